//! Parses the operands of a rule: names, calls, literals, lists, maps and messages.
//!
//! Operators are not looked at here; an operand in brackets goes back to the parser.

use super::{Parsed, Parser};
use crate::cel::ast::{Expression, MessageField, NodeId};
use crate::cel::function::Function;
use crate::cel::lexer::{Token, TokenKind};
use crate::cel::literal::{self, Literal};
use crate::cel::macros;

/// Names that the language keeps for itself, although they are still good field names.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed<NodeId> {
        let token = self.tokens[self.position];
        match token.kind {
            TokenKind::Identifier => self.name(),
            TokenKind::Dot if self.peek_at(1) == TokenKind::Identifier => self.name(),
            TokenKind::LeftParenthesis => {
                self.position += 1;
                let inner = self.expression()?;
                self.expect(TokenKind::RightParenthesis, "`)`")?;
                Ok(inner)
            }
            TokenKind::LeftBracket => self.list(),
            TokenKind::LeftBrace => self.map(),
            _ => self.literal(token),
        }
    }

    fn name(&mut self) -> Parsed<NodeId> {
        let start = self.tokens[self.position].start;
        if self.starts_message() {
            return self.message();
        }
        let leading_dot = self.accept(TokenKind::Dot);
        let token = self.advance();
        let word = &self.rule[token.start..token.end];
        if RESERVED.contains(&word) {
            let message = format!("`{word}` is a reserved word");
            return Err(self.error(start, message));
        }
        let word = word.to_owned();
        if self.peek() != TokenKind::LeftParenthesis {
            let name = if leading_dot { format!(".{word}") } else { word };
            return self.add(Expression::Identifier(name), start);
        }
        let open = self.advance();
        let arguments = self.arguments()?;
        if word == "has" && !leading_dot && arguments.len() == 1 {
            return macros::expand_has(self, arguments[0], open.start);
        }
        match Function::from_name(&word) {
            Some(function) => self.call(function, arguments, open.start),
            None => self.add(Expression::UnknownCall { name: word }, open.start),
        }
    }

    /// Tells whether names joined by dots and then `{` follow.
    fn starts_message(&self) -> bool {
        let mut ahead = usize::from(self.peek() == TokenKind::Dot);
        while self.peek_at(ahead) == TokenKind::Identifier {
            match self.peek_at(ahead + 1) {
                TokenKind::LeftBrace => return true,
                TokenKind::Dot => ahead += 2,
                _ => return false,
            }
        }
        false
    }

    fn message(&mut self) -> Parsed<NodeId> {
        self.accept(TokenKind::Dot);
        let mut name = String::new();
        while self.peek() != TokenKind::LeftBrace {
            let token = self.advance();
            name.push_str(&self.rule[token.start..token.end]);
        }
        let offset = self.advance().start;
        let mut fields = Vec::new();
        self.separated(TokenKind::RightBrace, "`}`", |parser| {
            fields.push(parser.message_field()?);
            Ok(())
        })?;
        self.add(Expression::Message { name, fields }, offset)
    }

    fn message_field(&mut self) -> Parsed<MessageField> {
        if !matches!(self.peek(), TokenKind::Identifier | TokenKind::EscapedIdentifier) {
            return Err(self.unexpected("a field name"));
        }
        let token = self.advance();
        let name = self.rule[token.start..token.end].trim_matches('`').to_owned();
        let colon = self.expect(TokenKind::Colon, "`:`")?;
        Ok(MessageField { name, value: self.expression()?, offset: colon.start })
    }

    fn list(&mut self) -> Parsed<NodeId> {
        let offset = self.advance().start;
        let mut elements = Vec::new();
        self.separated(TokenKind::RightBracket, "`]`", |parser| {
            elements.push(parser.expression()?);
            Ok(())
        })?;
        self.add(Expression::List(elements), offset)
    }

    fn map(&mut self) -> Parsed<NodeId> {
        let offset = self.advance().start;
        let mut entries = Vec::new();
        self.separated(TokenKind::RightBrace, "`}`", |parser| {
            let key = parser.expression()?;
            parser.expect(TokenKind::Colon, "`:`")?;
            entries.push((key, parser.expression()?));
            Ok(())
        })?;
        self.add(Expression::Map(entries), offset)
    }

    /// Parses items with commas between them; one more comma may stand before the end.
    fn separated(
        &mut self,
        close: TokenKind,
        wanted: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        let only_a_comma = self.accept(TokenKind::Comma);
        while !only_a_comma && self.peek() != close {
            self.refuse_optional()?;
            item(self)?;
            if !self.accept(TokenKind::Comma) {
                break;
            }
        }
        self.expect(close, wanted).map(|_| ())
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<NodeId>> {
        let mut arguments = Vec::new();
        if self.accept(TokenKind::RightParenthesis) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if !self.accept(TokenKind::Comma) {
                self.expect(TokenKind::RightParenthesis, "`)`")?;
                return Ok(arguments);
            }
        }
    }

    fn literal(&mut self, token: Token) -> Parsed<NodeId> {
        let negative = self.is_signed_number();
        let number = if negative { self.tokens[self.position + 1] } else { token };
        let text = &self.rule[number.start..number.end];
        let literal = match number.kind {
            TokenKind::Int => literal::int(text, negative),
            TokenKind::Double => literal::double(text, negative),
            TokenKind::Uint => literal::uint(text),
            TokenKind::String => literal::string(text),
            TokenKind::Bytes => literal::bytes(text),
            TokenKind::True => Ok(Literal::Bool(true)),
            TokenKind::False => Ok(Literal::Bool(false)),
            TokenKind::Null => Ok(Literal::Null),
            _ => return Err(self.unexpected("an expression")),
        };
        let literal = literal.map_err(|message| self.error(token.start, message))?;
        self.position += 1 + usize::from(negative);
        self.add(Expression::Literal(literal), token.start)
    }
}
