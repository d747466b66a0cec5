//! The style sheet of the picture.
//!
//! The colours are those of Okabe and Ito, told apart by people with any colour vision, darkened or
//! lightened until thin lines show on white and on dark. Every rule is bound to the picture's own
//! class, so that an SVG inside a page deliberately styles nothing but itself.

pub(super) const STYLE: &str = r"
.operon-graph { font-family: system-ui, -apple-system, 'Segoe UI', sans-serif; }
.operon-graph .back { fill: #ffffff; }
.operon-graph .panel { fill: #f6f8fa; stroke: #d8dee4; }
.operon-graph text { fill: #1f2328; font-size: 13px; }
.operon-graph .title { font-size: 20px; font-weight: 600; }
.operon-graph .heading { font-size: 15px; font-weight: 600; }
.operon-graph .small { font-size: 11px; fill: #59636e; }
.operon-graph .warning { font-size: 11px; fill: #8a3c00; }
.operon-graph .quiet { fill: #59636e; }
.operon-graph .sign { fill: #f6f8fa; stroke-width: 2; }
.operon-graph .head, .operon-graph .chain { stroke: #0072b2; fill: #0072b2; }
.operon-graph .ring { stroke: #0072b2; stroke-width: 1.5; fill: #f6f8fa; }
.operon-graph .skipped { stroke: #a06800; }
.operon-graph .virtual { stroke: #6e7781; stroke-dasharray: 2.5 2; }
.operon-graph .stranded { stroke: #d55e00; }
.operon-graph .cross { stroke: #d55e00; stroke-width: 2.5; stroke-linecap: round; fill: none; }
.operon-graph .strike-full { stroke: #f6f8fa; stroke-width: 2.5; }
.operon-graph .triangle { fill: none; stroke: #8a3c00; stroke-width: 1.5; stroke-linejoin: round; }
.operon-graph .line { fill: none; stroke-linecap: round; }
.operon-graph .replaces { stroke: #0072b2; stroke-width: 2.5; }
.operon-graph .ignored { stroke: #6e7781; stroke-width: 1.5; stroke-dasharray: 0.1 4; }
.operon-graph .skips { stroke: #a06800; stroke-width: 1.25; }
.operon-graph .range { stroke: #00795c; stroke-width: 1.25; stroke-dasharray: 4 3; }
.operon-graph .same { stroke: #b6bec7; stroke-width: 1; }
.operon-graph .tip-replaces { fill: #0072b2; }
.operon-graph .tip-ignored { fill: #6e7781; }
.operon-graph .tip-skips { fill: #a06800; }
.operon-graph .tip-range { fill: #00795c; }
.operon-graph .area { fill: transparent; }
.operon-graph .node:hover .area { fill: #0072b2; fill-opacity: 0.1; }
@media (prefers-color-scheme: dark) {
.operon-graph .back { fill: #0d1117; }
.operon-graph .panel { fill: #161b22; stroke: #30363d; }
.operon-graph text { fill: #e6edf3; }
.operon-graph .small, .operon-graph .quiet { fill: #9aa4af; }
.operon-graph .warning { fill: #ffa657; }
.operon-graph .triangle { stroke: #ffa657; }
.operon-graph .sign { fill: #161b22; }
.operon-graph .head, .operon-graph .chain { stroke: #56b4e9; fill: #56b4e9; }
.operon-graph .ring { stroke: #56b4e9; fill: #161b22; }
.operon-graph .skipped { stroke: #e69f00; }
.operon-graph .virtual { stroke: #9aa4af; }
.operon-graph .stranded, .operon-graph .cross { stroke: #ff7f3f; }
.operon-graph .strike-full { stroke: #161b22; }
.operon-graph .replaces { stroke: #56b4e9; }
.operon-graph .ignored { stroke: #9aa4af; }
.operon-graph .skips { stroke: #e69f00; }
.operon-graph .range { stroke: #2bc79c; }
.operon-graph .same { stroke: #4b545e; }
.operon-graph .tip-replaces { fill: #56b4e9; }
.operon-graph .tip-ignored { fill: #9aa4af; }
.operon-graph .tip-skips { fill: #e69f00; }
.operon-graph .tip-range { fill: #2bc79c; }
}
";
