//! Splits a rule into tokens.
//!
//! Tokens carry places, not values: numbers and strings are read by `literal` when the parser
//! asks for them, so that an error can point at the whole token.

use super::error::CelError;

/// Names a kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Equals,
    NotEquals,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    And,
    Or,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParenthesis,
    RightParenthesis,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Double,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
    End,
}

/// Holds a token and its place in the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Splits a rule into tokens, the last of which is [`TokenKind::End`].
pub(super) fn tokens(rule: &str) -> Result<Vec<Token>, CelError> {
    let mut lexer = Lexer { rule, bytes: rule.as_bytes(), position: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.position;
        let kind = lexer.token()?;
        tokens.push(Token { kind, start, end: lexer.position });
        if kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rule: &'a str,
    bytes: &'a [u8],
    position: usize,
}

impl Lexer<'_> {
    fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'\t' | b' ' | b'\r' | b'\n' | 0x0c), _) => self.position += 1,
                (Some(b'/'), Some(b'/')) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.position += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, CelError> {
        let Some(first) = self.peek(0) else {
            return Ok(TokenKind::End);
        };
        match first {
            b'0'..=b'9' => return Ok(self.number()),
            b'.' if self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) => {
                return Ok(self.number());
            }
            b'\'' | b'"' => return self.string(0, TokenKind::String),
            b'`' => return self.escaped_identifier(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.word(),
            _ => {}
        }
        let (kind, length) = match (first, self.peek(1)) {
            (b'=', Some(b'=')) => (TokenKind::Equals, 2),
            (b'!', Some(b'=')) => (TokenKind::NotEquals, 2),
            (b'<', Some(b'=')) => (TokenKind::LessOrEqual, 2),
            (b'>', Some(b'=')) => (TokenKind::GreaterOrEqual, 2),
            (b'&', Some(b'&')) => (TokenKind::And, 2),
            (b'|', Some(b'|')) => (TokenKind::Or, 2),
            (b'<', _) => (TokenKind::Less, 1),
            (b'>', _) => (TokenKind::Greater, 1),
            (b'!', _) => (TokenKind::Not, 1),
            (b'[', _) => (TokenKind::LeftBracket, 1),
            (b']', _) => (TokenKind::RightBracket, 1),
            (b'{', _) => (TokenKind::LeftBrace, 1),
            (b'}', _) => (TokenKind::RightBrace, 1),
            (b'(', _) => (TokenKind::LeftParenthesis, 1),
            (b')', _) => (TokenKind::RightParenthesis, 1),
            (b'.', _) => (TokenKind::Dot, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b'-', _) => (TokenKind::Minus, 1),
            (b'?', _) => (TokenKind::Question, 1),
            (b':', _) => (TokenKind::Colon, 1),
            (b'+', _) => (TokenKind::Plus, 1),
            (b'*', _) => (TokenKind::Star, 1),
            (b'/', _) => (TokenKind::Slash, 1),
            (b'%', _) => (TokenKind::Percent, 1),
            _ => return Err(self.unknown_character()),
        };
        self.position += length;
        Ok(kind)
    }

    /// Reads the longest number. A dot belongs to it only if a digit follows, so `1.size()` is a
    /// call on an int.
    fn number(&mut self) -> TokenKind {
        let hexadecimal = self.peek(0) == Some(b'0')
            && self.peek(1) == Some(b'x')
            && self.peek(2).is_some_and(|byte| byte.is_ascii_hexdigit());
        if hexadecimal {
            self.position += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return self.end_integer();
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        let mut double = false;
        if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) {
            double = true;
            self.position += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                double = true;
                self.position += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        if double { TokenKind::Double } else { self.end_integer() }
    }

    fn end_integer(&mut self) -> TokenKind {
        if matches!(self.peek(0), Some(b'u' | b'U')) {
            self.position += 1;
            return TokenKind::Uint;
        }
        TokenKind::Int
    }

    fn word(&mut self) -> Result<TokenKind, CelError> {
        let is_quote = |byte: Option<u8>| matches!(byte, Some(b'\'' | b'"'));
        match (self.peek(0), self.peek(1)) {
            (Some(b'r' | b'R'), next) if is_quote(next) => {
                return self.string(1, TokenKind::String);
            }
            (Some(b'b' | b'B'), next) if is_quote(next) => {
                return self.string(1, TokenKind::Bytes);
            }
            (Some(b'b' | b'B'), Some(b'r' | b'R')) if is_quote(self.peek(2)) => {
                return self.string(2, TokenKind::Bytes);
            }
            _ => {}
        }
        let start = self.position;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        Ok(match &self.rule[start..self.position] {
            "in" => TokenKind::In,
            "true" => TokenKind::True,
            "false" => TokenKind::False,
            "null" => TokenKind::Null,
            _ => TokenKind::Identifier,
        })
    }

    fn escaped_identifier(&mut self) -> Result<TokenKind, CelError> {
        let start = self.position;
        self.position += 1;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(&byte));
        if self.peek(0) != Some(b'`') || self.position == start + 1 {
            self.position = start;
            return Err(self.unknown_character());
        }
        self.position += 1;
        Ok(TokenKind::EscapedIdentifier)
    }

    fn string(&mut self, prefix: usize, kind: TokenKind) -> Result<TokenKind, CelError> {
        let start = self.position;
        let raw = prefix > 0 && matches!(self.bytes[start + prefix - 1], b'r' | b'R');
        self.position += prefix;
        let quote = self.bytes[self.position];
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let quotes = if triple { 3 } else { 1 };
        self.position += quotes;
        loop {
            let Some(byte) = self.peek(0) else {
                return Err(CelError::at(self.rule, start, "string is not closed"));
            };
            let closes = (0..quotes).all(|ahead| self.peek(ahead) == Some(quote));
            match byte {
                _ if closes => break,
                b'\\' if !raw => self.escape()?,
                b'\n' | b'\r' if !triple => {
                    let message = "string is not closed before the end of the line";
                    return Err(CelError::at(self.rule, start, message));
                }
                _ => self.position += 1,
            }
        }
        self.position += quotes;
        Ok(kind)
    }

    fn escape(&mut self) -> Result<(), CelError> {
        let hexadecimal = |byte: u8| byte.is_ascii_hexdigit();
        let octal = |byte: u8| matches!(byte, b'0'..=b'7');
        let digits = match self.peek(1) {
            Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v') => Some(0),
            Some(b'"' | b'\'' | b'\\' | b'?' | b'`') => Some(0),
            Some(b'x' | b'X') => self.has_digits(2, hexadecimal),
            Some(b'u') => self.has_digits(4, hexadecimal),
            Some(b'U') => self.has_digits(8, hexadecimal),
            Some(b'0'..=b'3') => self.has_digits(2, octal),
            Some(_) | None => None,
        };
        match digits {
            Some(count) => {
                self.position += 2 + count;
                Ok(())
            }
            None => Err(CelError::at(self.rule, self.position, "unknown escape in a string")),
        }
    }

    fn has_digits(&self, count: usize, is_digit: fn(u8) -> bool) -> Option<usize> {
        let all = (0..count).all(|index| self.peek(2 + index).is_some_and(is_digit));
        all.then_some(count)
    }

    fn skip_while(&mut self, belongs: fn(u8) -> bool) {
        while self.peek(0).is_some_and(belongs) {
            self.position += 1;
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    fn unknown_character(&self) -> CelError {
        let character = self.rule[self.position..].chars().next().unwrap_or(' ');
        let message = match character {
            '&' => "unexpected `&`: logical AND is `&&`".to_owned(),
            '|' => "unexpected `|`: logical OR is `||`".to_owned(),
            '=' => "unexpected `=`: equality is `==`".to_owned(),
            other => format!("unexpected character `{}`", other.escape_debug()),
        };
        CelError::at(self.rule, self.position, message)
    }
}
