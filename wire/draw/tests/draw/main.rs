//! The drawings of telling graphs, and of graphs made to break a drawing.

mod dot;
mod fixture;
mod hostile;
mod markup;
mod mermaid;
mod svg;
mod text;
