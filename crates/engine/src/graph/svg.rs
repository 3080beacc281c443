//! A graph as a self-contained SVG drawing: no script, no embedded font, light or dark by the
//! reader's preference.
//!
//! Not here: the positions of nodes and edges (`layout`).

use super::layout::{Point, Size, layout};
use super::picture::{Element, ElementKind, Picture};

const FONT: f64 = 13.0;
const SMALL: f64 = 11.0;
/// The width of a character as a fraction of the font size. It is close to that of all monospace
/// fonts.
const CHARACTER: f64 = 0.602;
/// The distance from the text to the edge of its box.
const PADDING: f64 = 12.0;
const LINE: f64 = 17.0;
const MARGIN: f64 = 24.0;
/// The maximum length of a name. Longer names are shortened; the tooltip of the box shows the full
/// name.
const LONGEST: usize = 36;

const STYLE: &str = "
    .back { fill: #ffffff }
    text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #14303d }
    .name { font-size: 13px; font-weight: 600 }
    .type, .legend { font-size: 11px; fill: #4a6674 }
    .box { stroke-width: 1.2 }
    .resource .box { fill: #e3f1f7; stroke: #1f7a9c }
    .datasource .box { fill: #eaf5e9; stroke: #4c8f4a; stroke-dasharray: 5 3 }
    .value .box { fill: #f4f4f1; stroke: #8a8f88 }
    .child .box { fill: #f1ebf8; stroke: #7a57a8 }
    .link .box { fill: #fdf1e3; stroke: #b9772a }
    .child .inner { fill: none; stroke: #7a57a8; stroke-width: 0.8 }
    .arrow { fill: none; stroke: #6b8794; stroke-width: 1.3 }
    .head { fill: #6b8794 }
    .depends-on { stroke-dasharray: 7 4 }
    .condition { stroke-dasharray: 2 3 }
    .reads-metadata { stroke-dasharray: 9 3 2 3 }
    .by-link { stroke-dasharray: 12 4 }
    .end { stroke-width: 0.9 }
    .other { stroke-dasharray: 1 3 }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0f1a20 }
      text { fill: #e2eef3 }
      .type, .legend { fill: #9db6c1 }
      .resource .box { fill: #12384a; stroke: #4fb3d9 }
      .datasource .box { fill: #17361c; stroke: #74bd72 }
      .value .box { fill: #2a2d2b; stroke: #9aa098 }
      .child .box { fill: #2e2143; stroke: #b394dd }
      .link .box { fill: #3d2b14; stroke: #e0a458 }
      .child .inner { stroke: #b394dd }
      .arrow { stroke: #7f9daa }
      .head { fill: #7f9daa }
    }
";

/// The kinds of dependencies in the order of the legend, each with the class that sets the dashes
/// of its arrows.
const REASONS: [(&str, &str); 7] = [
    ("reads", "reads"),
    ("depends-on", "depends-on"),
    ("condition", "condition"),
    ("reads-metadata", "reads-metadata"),
    ("link", "by-link"),
    ("from", "end"),
    ("to", "end"),
];

/// Draws a picture. The same picture gives the same text.
pub fn to_svg(picture: &Picture) -> String {
    let sizes: Vec<Size> = picture.elements.iter().map(size).collect();
    let needs = picture.elements.iter().enumerate();
    let arrows: Vec<(usize, usize, &str)> = needs
        .flat_map(|(from, element)| element.needs.iter().map(move |(to, why)| (from, *to, *why)))
        .collect();
    let ends: Vec<(usize, usize)> = arrows.iter().map(|(from, to, _)| (*from, *to)).collect();
    let laid = layout(&sizes, &ends);

    let legend = legend(&arrows);
    let legend_width = legend.1;
    let legend_height = if arrows.is_empty() {
        0.0
    } else {
        LINE + MARGIN
    };
    let width = laid.size.width.max(legend_width) + 2.0 * MARGIN;
    let height = laid.size.height + legend_height + 2.0 * MARGIN;
    let w = number(width);
    let h = number(height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n  \
         <title>{}</title>\n  <style>{STYLE}  </style>\n  <defs>\n    \
         <marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path class=\"head\" d=\"M0 1 L10 5 L0 9 Z\"/></marker>\n  </defs>\n  \
         <rect class=\"back\" width=\"{w}\" height=\"{h}\"/>\n  <g transform=\"translate({m} {m})\">\n",
        escaped(&picture.title),
        m = number(MARGIN),
    );
    for ((from, to, why), route) in arrows.iter().zip(&laid.routes) {
        let from = &picture.elements[*from].name;
        let to = &picture.elements[*to].name;
        let title = escaped(&format!("{from} {} {to}", why.replace('-', " ")));
        let class = class(why);
        svg.push_str(&format!(
            "    <path class=\"arrow {class}\" marker-end=\"url(#head)\" d=\"{}\"><title>{title}</title></path>\n",
            path(route)
        ));
    }
    for ((element, size), at) in picture.elements.iter().zip(&sizes).zip(&laid.boxes) {
        draw(&mut svg, element, *size, *at);
    }
    svg.push_str("  </g>\n");
    if !arrows.is_empty() {
        let x = number(MARGIN);
        let y = number(height - MARGIN);
        svg.push_str(&format!(
            "  <g transform=\"translate({x} {y})\">\n{}  </g>\n",
            legend.0
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn class(why: &str) -> &str {
    REASONS
        .iter()
        .find(|(reason, _)| *reason == why)
        .map_or("other", |(_, class)| class)
}

fn size(element: &Element) -> Size {
    let name = columns(&shortened(&element.name)) * FONT * CHARACTER;
    let ty = element
        .ty
        .as_ref()
        .map_or(0.0, |ty| columns(&shortened(ty)) * SMALL * CHARACTER);
    let lines = if element.ty.is_some() { 2.0 } else { 1.0 };
    Size {
        width: (name.max(ty) + 2.0 * PADDING).ceil(),
        height: lines * LINE + PADDING,
    }
}

fn draw(svg: &mut String, element: &Element, size: Size, at: Point) {
    let radius = match element.kind {
        ElementKind::Resource | ElementKind::Child | ElementKind::Link => 4.0,
        ElementKind::DataSource => 12.0,
        ElementKind::Value => size.height / 2.0,
    };
    let width = number(size.width);
    let height = number(size.height);
    svg.push_str(&format!(
        "    <g class=\"{}\" transform=\"translate({} {})\"><title>{}</title>",
        element.kind.word(),
        number(at.x),
        number(at.y),
        escaped(&match &element.ty {
            Some(ty) => format!("{} ({ty})", element.name),
            None => element.name.clone(),
        }),
    ));
    svg.push_str(&format!(
        "<rect class=\"box\" width=\"{width}\" height=\"{height}\" rx=\"{}\"/>",
        number(radius)
    ));
    if element.kind == ElementKind::Child {
        let width = number(size.width - 6.0);
        let height = number(size.height - 6.0);
        svg.push_str(&format!(
            "<rect class=\"inner\" x=\"3\" y=\"3\" width=\"{width}\" height=\"{height}\" rx=\"2\"/>"
        ));
    }
    let x = number(PADDING);
    let y = PADDING / 2.0 + 13.0;
    let name = escaped(&shortened(&element.name));
    svg.push_str(&format!(
        "<text class=\"name\" x=\"{x}\" y=\"{}\">{name}</text>",
        number(y)
    ));
    if let Some(ty) = &element.ty {
        let ty = escaped(&shortened(ty));
        svg.push_str(&format!(
            "<text class=\"type\" x=\"{x}\" y=\"{}\">{ty}</text>",
            number(y + LINE - 1.0)
        ));
    }
    svg.push_str("</g>\n");
}

/// Returns a smooth line through the points: horizontal within columns, curved between them.
fn path(points: &[Point]) -> String {
    let Some((first, rest)) = points.split_first() else {
        return String::new();
    };
    let mut path = format!("M{} {}", number(first.x), number(first.y));
    let mut from = *first;
    for (at, to) in rest.iter().enumerate() {
        let x = number(to.x);
        let y = number(to.y);
        if at % 2 == 0 {
            if *to != from {
                path.push_str(&format!(" L{x} {y}"));
            }
        } else {
            // An arrow that runs backwards also leaves to the right and arrives from the left.
            let bend = ((to.x - from.x) / 2.0).max(24.0);
            let one = number(from.x + bend);
            let other = number(to.x - bend);
            path.push_str(&format!(" C{one} {} {other} {y} {x} {y}", number(from.y)));
        }
        from = *to;
    }
    path
}

/// Returns a line and a label for each kind of dependency that occurs, and the width of the legend.
fn legend(arrows: &[(usize, usize, &str)]) -> (String, f64) {
    let mut reasons: Vec<&str> = REASONS.iter().map(|(reason, _)| *reason).collect();
    for (_, _, why) in arrows {
        if !reasons.contains(why) {
            reasons.push(why);
        }
    }
    let occurring: std::collections::HashSet<&str> =
        arrows.iter().map(|(_, _, why)| *why).collect();
    let mut svg = String::new();
    let mut x = 0.0;
    for why in reasons.into_iter().filter(|why| occurring.contains(why)) {
        let words = why.replace('-', " ");
        let class = class(why);
        svg.push_str(&format!(
            "    <path class=\"arrow {class}\" marker-end=\"url(#head)\" d=\"M{} -4 L{} -4\"/>\
             <text class=\"legend\" x=\"{}\" y=\"0\">{words}</text>\n",
            number(x),
            number(x + 36.0),
            number(x + 44.0)
        ));
        x += 44.0 + columns(&words) * SMALL * CHARACTER + 24.0;
    }
    (svg, x)
}

/// Returns the width of a text in characters. East Asian wide characters count twice.
fn columns(text: &str) -> f64 {
    let wide = |character: char| matches!(u32::from(character), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    text.chars()
        .map(|character| if wide(character) { 2.0 } else { 1.0 })
        .sum()
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    // Keep the end: names often differ there.
    let head: String = text.chars().take(LONGEST / 2).collect();
    let count = text.chars().count();
    let tail: String = text.chars().skip(count - (LONGEST / 2 - 1)).collect();
    format!("{head}…{tail}")
}

/// Escapes a text for an XML element or attribute. Replaces control characters by U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Prints a number with at most one decimal.
fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
