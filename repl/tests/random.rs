//! Random trees survive printing and parsing; no text makes the parser panic.

use livefusion_repl::syntax::*;
use livefusion_repl::{Script, SourceId, Sources, Span, holes, parse};
use loop_lang::Ty;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

/// Trees compare without locations, so any span will do.
fn span() -> Span {
    let source: SourceId = Sources::default().add("", "");
    Span {
        source,
        start: 0,
        end: 0,
    }
}

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, span())
}

fn name() -> impl Strategy<Value = String> + Clone {
    select(vec!["x", "ys", "_tmp", "e5", "f64::MAX", "σ_1"]).prop_map(String::from)
}

fn given_name() -> impl Strategy<Value = String> + Clone {
    select(vec!["x", "ys", "letter", "_1"]).prop_map(String::from)
}

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        any::<bool>().prop_map(Literal::Bool),
        any::<u64>().prop_map(|n| Literal::Int(n, None)),
        (0..128u64, select(vec![Ty::I8, Ty::U8, Ty::U64]))
            .prop_map(|(n, ty)| Literal::Int(n, Some(ty))),
        any::<f64>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| Literal::Float(x.abs(), None)),
        (0..9u64).prop_map(|n| Literal::Float(n as f64 / 4.0, Some(Ty::F64))),
        any::<f32>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| Literal::Float(x.abs().into(), Some(Ty::F32))),
        any::<String>().prop_map(Literal::Text),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> + Clone {
    let leaf = prop_oneof![
        Just(PatternKind::Any),
        given_name().prop_map(PatternKind::Name)
    ];
    let leaf = leaf.prop_map(|kind| Pattern { kind, span: span() });
    leaf.prop_recursive(3, 8, 3, |inner| {
        let parts = vec(inner, 1..4);
        let kind = (parts, any::<bool>()).prop_map(|(parts, round)| match round {
            true => PatternKind::Tuple(parts),
            false => PatternKind::Vector(parts),
        });
        kind.prop_map(|kind| Pattern { kind, span: span() })
    })
}

fn function(body: impl Strategy<Value = Expr>) -> impl Strategy<Value = Arc<Function>> {
    let style = select(vec![FunctionStyle::Backslash, FunctionStyle::Bars]);
    (vec(pattern(), 1..3), body, style).prop_map(|(params, body, style)| {
        Arc::new(Function {
            params,
            body,
            style,
        })
    })
}

fn call(of: impl Strategy<Value = Expr> + Clone) -> impl Strategy<Value = ExprKind> {
    let plain = (of.clone(), vec(of.clone(), 0..3));
    let method = (name(), vec(of.clone(), 1..3));
    let piped = (of.clone(), vec(of, 1..3));
    let made = |callee, args, style| ExprKind::Call {
        callee: Box::new(callee),
        args,
        style,
    };
    prop_oneof![
        plain.prop_map(move |(f, args)| made(f, args, CallStyle::Plain)),
        method.prop_map(move |(n, args)| made(expr(ExprKind::Name(n)), args, CallStyle::Method)),
        piped.prop_map(move |(f, args)| made(f, args, CallStyle::Piped)),
    ]
}

const BINARY: [Binary; 20] = [
    Binary::Or,
    Binary::And,
    Binary::Eq,
    Binary::Ne,
    Binary::Lt,
    Binary::Le,
    Binary::Gt,
    Binary::Ge,
    Binary::BitOr,
    Binary::BitAnd,
    Binary::Shl,
    Binary::Shr,
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Rem,
    Binary::FloorDiv,
    Binary::MatMul,
    Binary::Pow,
];

fn operation(of: impl Strategy<Value = Expr> + Clone) -> impl Strategy<Value = ExprKind> {
    let unary = (select(vec![Unary::Neg, Unary::Not]), of.clone());
    let binary = (select(BINARY.to_vec()), of.clone(), of.clone());
    let range = (
        any::<bool>(),
        proptest::option::of(of.clone()),
        proptest::option::of(of.clone()),
    );
    prop_oneof![
        unary.prop_map(|(op, e)| ExprKind::Unary {
            op,
            operand: Box::new(e)
        }),
        binary.prop_map(|(op, a, b)| ExprKind::Binary {
            op,
            op_span: span(),
            operands: Box::new([a, b])
        }),
        range.prop_map(|(closed, start, end)| ExprKind::Range {
            closed: closed && end.is_some(),
            start: start.map(Box::new),
            end: end.map(Box::new),
        }),
        (of, select(Ty::ALL.to_vec())).prop_map(|(e, ty)| ExprKind::Cast {
            value: Box::new(e),
            ty
        }),
    ]
}

fn statement(
    of: impl Strategy<Value = Expr> + Clone + 'static,
) -> impl Strategy<Value = StatementKind> {
    let binding = (pattern(), of.clone());
    let definition = (given_name(), vec(pattern(), 1..3), of);
    prop_oneof![
        binding.prop_map(|(pattern, value)| StatementKind::Let { pattern, value }),
        definition.prop_map(|(name, params, body)| StatementKind::Def {
            name: Ident {
                text: name,
                span: span()
            },
            function: Arc::new(Function {
                params,
                body,
                style: FunctionStyle::Def
            }),
        }),
    ]
}

fn expression() -> impl Strategy<Value = Expr> + Clone {
    let names = prop_oneof![4 => name(), 1 => Just("_".to_string())];
    let leaf = prop_oneof![
        literal().prop_map(ExprKind::Literal),
        names.prop_map(ExprKind::Name)
    ];
    let leaf = leaf.prop_map(expr);
    leaf.prop_recursive(6, 60, 4, |e| {
        let several = vec(e.clone(), 0..4);
        let field = prop_oneof![
            (0..12u32).prop_map(|n| Field::Number(n, span())),
            name().prop_map(|text| Field::Name(Ident { text, span: span() })),
        ];
        let block = (vec(statement(e.clone().boxed()), 0..3), e.clone());
        let kind = prop_oneof![
            3 => call(e.clone()),
            4 => operation(e.clone()),
            1 => several.clone().prop_map(ExprKind::Vector),
            1 => several.prop_map(ExprKind::Ragged),
            1 => vec(e.clone(), 1..4).prop_map(ExprKind::Tuple),
            2 => function(e.clone()).prop_map(ExprKind::Function),
            1 => (e.clone(), vec(e.clone(), 0..3)).prop_map(|(array, items)| ExprKind::Index {
                array: Box::new(array),
                items
            }),
            1 => (e.clone(), field).prop_map(|(value, field)| ExprKind::Field {
                value: Box::new(value),
                field
            }),
            1 => [e.clone(), e.clone(), e].prop_map(|parts| ExprKind::If(Box::new(parts))),
            1 => block.prop_map(|(statements, value)| ExprKind::Block {
                statements: statements.into_iter().map(placed).collect(),
                value: Box::new(value)
            }),
        ];
        kind.prop_map(expr)
    })
}

fn placed(kind: StatementKind) -> Statement {
    Statement { kind, span: span() }
}

fn script() -> impl Strategy<Value = Script> {
    let shown = expression().prop_map(StatementKind::Show);
    let any = prop_oneof![statement(expression()), shown];
    vec(any.prop_map(placed), 0..4).prop_map(|statements| Script { statements })
}

/// Parses a text, and renders its error.
fn look_at(text: &str) -> Option<Script> {
    let mut sources = Sources::default();
    let source = sources.add("random.lf", text);
    let wrong = match parse(&sources, source) {
        Ok(mut script) => {
            let parsed = script.clone();
            match holes::fill(&mut script, &|name, k| name == "x" && k == 1) {
                Ok(()) => assert_eq!(script.to_string(), parsed.to_string()),
                Err(wrong) => assert!(!wrong.draw(&sources, false).is_empty()),
            }
            return Some(parsed);
        }
        Err(wrong) => wrong,
    };
    for diagnostic in wrong.diagnostics {
        assert!(
            diagnostic
                .draw(&sources, false)
                .contains(&diagnostic.message)
        );
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= text.len());
        diagnostic.draw(&sources, true);
    }
    None
}

/// Each expression's span covers its source text: alone it parses into the same tree.
fn check_spans(sources: &Sources, e: &Expr) {
    let show = |text: &str| {
        let mut alone = Sources::default();
        let source = alone.add("part.lf", text);
        parse(&alone, source).expect(text).outline()
    };
    let shown = Statement {
        kind: StatementKind::Show(e.clone()),
        span: e.span,
    };
    let tree = Script {
        statements: vec![shown],
    }
    .outline();
    assert_eq!(show(sources.slice(e.span)), tree);
    match &e.kind {
        ExprKind::Function(f) => check_spans(sources, &f.body),
        ExprKind::Block { statements, value } => {
            statements.iter().for_each(|s| check_statement(sources, s));
            check_spans(sources, value);
        }
        ExprKind::Binary { op, op_span, .. } => assert_eq!(sources.slice(*op_span), op.text()),
        ExprKind::Field { field, .. } => match field {
            Field::Number(n, span) => assert_eq!(sources.slice(*span), n.to_string()),
            Field::Name(name) => assert_eq!(sources.slice(name.span), name.text),
        },
        _ => {}
    }
    e.kind
        .parts()
        .into_iter()
        .for_each(|part| check_spans(sources, part));
}

fn check_statement(sources: &Sources, s: &Statement) {
    match &s.kind {
        StatementKind::Let { value, .. } => check_spans(sources, value),
        StatementKind::Def { name, function } => {
            assert_eq!(sources.slice(name.span), name.text);
            check_spans(sources, &function.body);
        }
        StatementKind::Show(e) => check_spans(sources, e),
    }
}

const TOKENS: [&str; 48] = [
    "let", "def", "if", "then", "else", "as", "ragged", "true", "x", "f", "_", "f64", "1", "2.5",
    "0xff", "\"a\"", "\"", "\\", "->", "=", ",", ".", "..", "..=", "(", ")", "[", "]", "{", "}",
    "|", "||", "|>", "&&", "==", "<", "+", "-", "*", "!", ";", "\n", "# c\n", "$", "λ", "1.0",
    "\t", "0",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn trees_come_back_from_their_texts(script in script()) {
        let text = script.to_string();
        let again = look_at(&text);
        prop_assert!(again.is_some(), "{text}");
        let again = again.unwrap_or_default();
        prop_assert_eq!(again.outline(), script.outline(), "{}", &text);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn bytes_of_nodes(script in script()) {
        let mut sources = Sources::default();
        let source = sources.add("random.lf", script.to_string());
        let parsed = parse(&sources, source).unwrap_or_default();
        prop_assert_eq!(parsed.statements.len(), script.statements.len());
        parsed.statements.iter().for_each(|s| check_statement(&sources, s));
    }

    #[test]
    fn any_tokens(tokens in vec(select(TOKENS.to_vec()), 0..60), apart in any::<bool>()) {
        look_at(&tokens.join(if apart { " " } else { "" }));
    }

    #[test]
    fn any_text(text in any::<String>()) {
        look_at(&text);
    }

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        look_at(&String::from_utf8_lossy(&bytes));
    }

    /// A prefix of a script is a script if it ends between statements. Otherwise it is wrong or
    /// incomplete.
    #[test]
    fn beginnings(script in script(), part in 0.0..1.0) {
        let text = script.to_string();
        let end = text.floor_char_boundary((text.len() as f64 * part) as usize);
        look_at(&text[..end]);
    }
}

/// Nesting as deep as the text is long is rejected.
#[test]
fn parser_refuses_text_nested_too_deep() {
    let n = 100_000;
    let repeated = |open: &str, inner: &str, close: &str| open.repeat(n) + inner + &close.repeat(n);
    let texts = [
        repeated("(", "1", ")"),
        repeated("[", "1", "]"),
        repeated("ragged [", "1", "]"),
        repeated("{ ", "1", " }"),
        repeated("f(", "1", ")"),
        repeated("-", "1", ""),
        repeated("!", "1", ""),
        repeated("..", "1", ""),
        repeated("\\x -> ", "1", ""),
        repeated("|x| ", "1", ""),
        repeated("if a then b else ", "1", ""),
        repeated("if ", "1", ""),
        repeated("1 + ", "1", ""),
        repeated("xs |> ", "1", ""),
        repeated("", "xs", " |> f"),
        repeated("", "xs", ".f()"),
        repeated("", "xs", ".0"),
        repeated("", "xs", "[0]"),
        repeated("", "xs", "(0)"),
        repeated("", "xs", " as f64"),
        format!("let {}x", "(".repeat(n)),
        format!("\\{}x", "[".repeat(n)),
        format!("|x, {}y", "(".repeat(n)),
        repeated("{ let a = ", "1", ""),
        repeated("(1 + ", "1", ") + 1"),
    ];
    for text in texts {
        let mut sources = Sources::default();
        let source = sources.add("deep.lf", text.as_str());
        let wrong = parse(&sources, source).expect_err(&text[..9]);
        let message = &wrong.diagnostics[0].message;
        assert_eq!(message, "more than 200 levels of nesting", "{}", &text[..9]);
        assert!(!wrong.incomplete);
        look_at(&text[..10_000]);
    }
}

/// The maximal depth is accepted, and recursive walks have enough stack.
#[test]
fn parser_accepts_text_of_the_deepest_nesting() {
    let n = MAX_DEPTH - 1;
    for (text, height) in [
        ("(".repeat(n) + "1" + &")".repeat(n), 1),
        ("-".repeat(n) + "1", MAX_DEPTH),
        (format!("1{}", " + 1".repeat(n)), MAX_DEPTH),
    ] {
        let script = look_at(&text).expect("a tree");
        let StatementKind::Show(e) = &script.statements[0].kind else {
            panic!("an expression");
        };
        assert_eq!(e.height(), height);
    }
}
