//! Parses a rule into a tree, expanding macros on the way.
//!
//! There is no error recovery: the first fault is reported. Types are not looked at here.

mod primary;

use super::ast::{Expression, NodeId, Tree};
use super::error::CelError;
use super::function::Function;
use super::lexer::{Token, TokenKind, tokens};
use super::limit::{Limit, MAX_PARSE_DEPTH, MAX_RULE_BYTES, MAX_RULE_CHARACTERS};
use super::macros;

/// Parses a rule and returns its tree and the root of it.
pub(super) fn parse(rule: &str) -> Result<(Tree, NodeId), CelError> {
    if rule.len() > MAX_RULE_BYTES {
        return Err(Limit::RuleBytes.into());
    }
    if rule.chars().count() > MAX_RULE_CHARACTERS {
        return Err(Limit::RuleCharacters.into());
    }
    let mut parser = Parser {
        rule,
        tokens: tokens(rule)?,
        position: 0,
        tree: Tree::default(),
        depths: Depths::default(),
    };
    let root = parser.expression().map_err(|error| *error)?;
    if parser.peek() != TokenKind::End {
        return Err(*parser.unexpected("an operator or the end of the rule"));
    }
    Ok((parser.tree, root))
}

/// Errors are boxed to keep the frames of the recursive descent small.
pub(super) type Parsed<T> = Result<T, Box<CelError>>;

pub(super) struct Parser<'a> {
    pub(super) rule: &'a str,
    tokens: Vec<Token>,
    position: usize,
    pub(super) tree: Tree,
    depths: Depths,
}

/// Counts how many grammar rules of each kind are open. Upstream: each kind is limited on its
/// own, so `1+(1+(…))` ends at half the depth of `((…))`.
#[derive(Default)]
struct Depths {
    expression: usize,
    relation: usize,
    sum: usize,
}

impl Parser<'_> {
    fn expression(&mut self) -> Parsed<NodeId> {
        self.depths.expression += 1;
        check_depth(self.depths.expression)?;
        let condition = self.alternation()?;
        let parsed = if self.peek() == TokenKind::Question {
            self.conditional(condition)?
        } else {
            condition
        };
        self.depths.expression -= 1;
        Ok(parsed)
    }

    /// Upstream: the middle of a conditional is not a conditional, so nesting there needs
    /// parentheses.
    fn conditional(&mut self, condition: NodeId) -> Parsed<NodeId> {
        let offset = self.advance().start;
        let yes = self.alternation()?;
        self.expect(TokenKind::Colon, "`:`")?;
        let no = self.expression()?;
        self.call(Function::Conditional, vec![condition, yes, no], offset)
    }

    fn alternation(&mut self) -> Parsed<NodeId> {
        let first = self.conjunction()?;
        if self.peek() != TokenKind::Or {
            return Ok(first);
        }
        let offset = self.tokens[self.position].start;
        let mut operands = vec![first];
        while self.accept(TokenKind::Or) {
            operands.push(self.conjunction()?);
        }
        self.add(Expression::Or(operands), offset)
    }

    fn conjunction(&mut self) -> Parsed<NodeId> {
        let first = self.relation(true)?;
        if self.peek() != TokenKind::And {
            return Ok(first);
        }
        let offset = self.tokens[self.position].start;
        let mut operands = vec![first];
        while self.accept(TokenKind::And) {
            operands.push(self.relation(true)?);
        }
        self.add(Expression::And(operands), offset)
    }

    fn relation(&mut self, chained: bool) -> Parsed<NodeId> {
        self.depths.relation += 1;
        check_depth(self.depths.relation)?;
        let mut left = self.sum(1)?;
        while let Some(function) = relation_operator(self.peek()).filter(|_| chained) {
            let offset = self.advance().start;
            let right = self.relation(false)?;
            left = self.call(function, vec![left, right], offset)?;
        }
        self.depths.relation -= 1;
        Ok(left)
    }

    /// Parses sums (binding 1) and products (binding 2) at or above the given binding.
    fn sum(&mut self, lowest: usize) -> Parsed<NodeId> {
        self.depths.sum += 1;
        check_depth(self.depths.sum)?;
        let mut left = self.unary()?;
        while let Some((function, binding)) = sum_operator(self.peek()) {
            if binding < lowest {
                break;
            }
            let offset = self.advance().start;
            let right = self.sum(binding + 1)?;
            left = self.call(function, vec![left, right], offset)?;
        }
        self.depths.sum -= 1;
        Ok(left)
    }

    /// A single minus before a number belongs to the number; several cancel out in pairs.
    fn unary(&mut self) -> Parsed<NodeId> {
        let token = self.tokens[self.position];
        let function = match token.kind {
            TokenKind::Not => Function::Not,
            TokenKind::Minus if !self.is_signed_number() => Function::Negate,
            _ => return self.member(),
        };
        let mut count = 0;
        while self.peek() == token.kind {
            self.position += 1;
            count += 1;
        }
        let operand = self.member()?;
        if count % 2 == 0 {
            return Ok(operand);
        }
        self.call(function, vec![operand], token.start)
    }

    fn is_signed_number(&self) -> bool {
        self.peek() == TokenKind::Minus
            && matches!(self.peek_at(1), TokenKind::Int | TokenKind::Double)
    }

    fn member(&mut self) -> Parsed<NodeId> {
        let mut operand = self.primary()?;
        loop {
            match self.peek() {
                TokenKind::Dot => operand = self.selection(operand)?,
                TokenKind::LeftBracket => {
                    let offset = self.advance().start;
                    self.refuse_optional()?;
                    let index = self.expression()?;
                    self.expect(TokenKind::RightBracket, "`]`")?;
                    operand = self.call(Function::Index, vec![operand, index], offset)?;
                }
                _ => return Ok(operand),
            }
        }
    }

    fn selection(&mut self, operand: NodeId) -> Parsed<NodeId> {
        let dot = self.advance();
        self.refuse_optional()?;
        let name = self.tokens[self.position];
        let text = &self.rule[name.start..name.end];
        match name.kind {
            TokenKind::EscapedIdentifier => {
                let field = text.trim_matches('`').to_owned();
                self.position += 1;
                self.add(Expression::Select { operand, field }, dot.start)
            }
            TokenKind::Identifier if self.peek_at(1) == TokenKind::LeftParenthesis => {
                let name = text.to_owned();
                self.position += 1;
                let open = self.advance();
                let arguments = self.arguments()?;
                self.receiver_call(operand, name, arguments, open.start)
            }
            TokenKind::Identifier => {
                let field = text.to_owned();
                self.position += 1;
                self.add(Expression::Select { operand, field }, dot.start)
            }
            _ => Err(self.unexpected("a field name")),
        }
    }

    fn receiver_call(
        &mut self,
        receiver: NodeId,
        name: String,
        arguments: Vec<NodeId>,
        offset: usize,
    ) -> Parsed<NodeId> {
        if let Some(expanded) = macros::expand_receiver(self, receiver, &name, &arguments, offset)?
        {
            return Ok(expanded);
        }
        let expression = match Function::from_name(&name) {
            Some(function) => Expression::Call { function, receiver: Some(receiver), arguments },
            None => Expression::UnknownCall { name },
        };
        self.add(expression, offset)
    }

    fn refuse_optional(&mut self) -> Parsed<()> {
        if self.peek() == TokenKind::Question {
            let offset = self.tokens[self.position].start;
            return Err(self.error(offset, "optional syntax `?` is not supported"));
        }
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        function: Function,
        arguments: Vec<NodeId>,
        offset: usize,
    ) -> Parsed<NodeId> {
        let expression = Expression::Call { function, receiver: None, arguments };
        self.add(expression, offset)
    }

    pub(super) fn add(&mut self, expression: Expression, offset: usize) -> Parsed<NodeId> {
        self.tree.add(expression, offset).map_err(|limit| Box::new(limit.into()))
    }

    pub(super) fn error(&self, offset: usize, message: impl Into<String>) -> Box<CelError> {
        Box::new(CelError::at(self.rule, offset, message))
    }

    fn unexpected(&self, wanted: &str) -> Box<CelError> {
        let token = self.tokens[self.position];
        let found = match token.kind {
            TokenKind::End => "the end of the rule".to_owned(),
            _ => format!("`{}`", &self.rule[token.start..token.end]),
        };
        self.error(token.start, format!("expected {wanted}, found {found}"))
    }

    fn peek(&self) -> TokenKind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.position + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.position];
        // The last token is the end of the rule, which is never passed.
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    fn accept(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.position += 1;
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, wanted: &str) -> Parsed<Token> {
        if self.peek() == kind {
            return Ok(self.advance());
        }
        Err(self.unexpected(wanted))
    }
}

fn check_depth(depth: usize) -> Parsed<()> {
    if depth > MAX_PARSE_DEPTH {
        return Err(Box::new(Limit::ParseDepth.into()));
    }
    Ok(())
}

fn relation_operator(kind: TokenKind) -> Option<Function> {
    match kind {
        TokenKind::Equals => Some(Function::Equals),
        TokenKind::NotEquals => Some(Function::NotEquals),
        TokenKind::Less => Some(Function::Less),
        TokenKind::LessOrEqual => Some(Function::LessOrEqual),
        TokenKind::Greater => Some(Function::Greater),
        TokenKind::GreaterOrEqual => Some(Function::GreaterOrEqual),
        TokenKind::In => Some(Function::In),
        _ => None,
    }
}

fn sum_operator(kind: TokenKind) -> Option<(Function, usize)> {
    match kind {
        TokenKind::Plus => Some((Function::Add, 1)),
        TokenKind::Minus => Some((Function::Subtract, 1)),
        TokenKind::Star => Some((Function::Multiply, 2)),
        TokenKind::Slash => Some((Function::Divide, 2)),
        TokenKind::Percent => Some((Function::Modulo, 2)),
        _ => None,
    }
}
