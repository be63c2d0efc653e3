//! Text for LaTeX.

use std::collections::BTreeSet;

/// A letter in LaTeX for any engine; `None` = pdfTeX has no such letter.
fn letter(c: char) -> Option<&'static str> {
    Some(match c {
        '\\' => "\\textbackslash{}",
        '{' => "\\{",
        '}' => "\\}",
        '$' => "\\ensuremath{\\mathdollar}",
        '&' => "\\&",
        '#' => "\\#",
        '_' => "\\_",
        '%' => "\\%",
        '^' => "\\textasciicircum{}",
        '~' => "\\textasciitilde{}",
        // These are other letters, or ligatures, in the old text encoding. Symbols use the mathematical fonts, because those of the
        // text companion encoding are bitmaps on small installations.
        '<' => "\\textless{}",
        '>' => "\\textgreater{}",
        '|' => "\\textbar{}",
        '`' => "\\`{}",
        '-' => "-{}",
        '\'' => "'{}",
        ',' => ",{}",
        '?' => "?{}",
        '!' => "!{}",
        '\u{a0}' | '\u{202f}' | '\u{2009}' => "~",
        '·' => "\\ensuremath{\\cdot}",
        '•' => "\\ensuremath{\\bullet}",
        '–' => "\\textendash{}",
        '—' => "\\textemdash{}",
        '‘' => "\\textquoteleft{}",
        '’' => "\\textquoteright{}",
        '“' => "\\textquotedblleft{}",
        '"' | '”' => "\\textquotedblright{}",
        '…' => "\\ldots{}",
        '−' => "\\ensuremath{-}",
        '×' => "\\ensuremath{\\times}",
        '÷' => "\\ensuremath{\\div}",
        '±' => "\\ensuremath{\\pm}",
        '≥' => "\\ensuremath{\\ge}",
        '≤' => "\\ensuremath{\\le}",
        '≠' => "\\ensuremath{\\ne}",
        '≈' => "\\ensuremath{\\approx}",
        '∞' => "\\ensuremath{\\infty}",
        '→' => "\\ensuremath{\\to}",
        '←' => "\\ensuremath{\\gets}",
        'τ' => "\\ensuremath{\\tau}",
        'Δ' => "\\ensuremath{\\Delta}",
        'χ' => "\\ensuremath{\\chi}",
        'α' => "\\ensuremath{\\alpha}",
        'β' => "\\ensuremath{\\beta}",
        'σ' => "\\ensuremath{\\sigma}",
        'μ' | 'µ' => "\\ensuremath{\\mu}",
        '°' => "\\ensuremath{^\\circ}",
        '§' => "\\S{}",
        '²' => "\\textsuperscript{2}",
        '³' => "\\textsuperscript{3}",
        '¹' => "\\textsuperscript{1}",
        '£' => "\\pounds{}",
        '©' => "\\copyright{}",
        'ß' => "\\ss{}",
        'æ' => "\\ae{}",
        'Æ' => "\\AE{}",
        'ø' => "\\o{}",
        'Ø' => "\\O{}",
        'œ' => "\\oe{}",
        'Œ' => "\\OE{}",
        'ł' => "\\l{}",
        'Ł' => "\\L{}",
        'ı' => "\\i{}",
        'À' => "\\`A",
        'Á' => "\\'A",
        'Â' => "\\^A",
        'Ã' => "\\~A",
        'Ä' => "\\\"A",
        'Å' => "\\AA{}",
        'Ç' => "\\c{C}",
        'È' => "\\`E",
        'É' => "\\'E",
        'Ê' => "\\^E",
        'Ë' => "\\\"E",
        'Í' => "\\'I",
        'Î' => "\\^I",
        'Ï' => "\\\"I",
        'Ñ' => "\\~N",
        'Ó' => "\\'O",
        'Ô' => "\\^O",
        'Õ' => "\\~O",
        'Ö' => "\\\"O",
        'Ú' => "\\'U",
        'Û' => "\\^U",
        'Ü' => "\\\"U",
        'à' => "\\`a",
        'á' => "\\'a",
        'â' => "\\^a",
        'ã' => "\\~a",
        'ä' => "\\\"a",
        'å' => "\\aa{}",
        'ç' => "\\c{c}",
        'è' => "\\`e",
        'é' => "\\'e",
        'ê' => "\\^e",
        'ë' => "\\\"e",
        'í' => "\\'{\\i}",
        'î' => "\\^{\\i}",
        'ï' => "\\\"{\\i}",
        'ñ' => "\\~n",
        'ó' => "\\'o",
        'ô' => "\\^o",
        'õ' => "\\~o",
        'ö' => "\\\"o",
        'ú' => "\\'u",
        'û' => "\\^u",
        'ü' => "\\\"u",
        'č' => "\\v{c}",
        'ć' => "\\'c",
        'š' => "\\v{s}",
        'ś' => "\\'s",
        'ž' => "\\v{z}",
        'ż' => "\\.z",
        'ń' => "\\'n",
        'ě' => "\\v{e}",
        'ř' => "\\v{r}",
        _ => return None,
    })
}

/// Whether a letter needs no escape with any engine.
const fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, ' ' | '.' | ':' | ';' | '/' | '(' | ')' | '+' | '=' | '*' | '@' | '[' | ']')
}

/// Text without commands, in one line, for any argument.
///
/// Letters that pdfTeX has no font for (CJK, right-to-left scripts, emoji) are letters in `XeTeX` and `LuaTeX`, and numbers in
/// pdfTeX, `[U+751F]`; [`foreign`] lists them. [`NEEDS`] defines the command that selects.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if plain(c) {
            out.push(c);
        } else if let Some(known) = letter(c) {
            out.push_str(known);
        } else if c.is_control() || is_mark(c) {
            if c.is_whitespace() {
                out.push(' ');
            }
        } else {
            out.push_str(&format!("\\staminaletter{{{c}}}{{{:04X}}}", u32::from(c)));
        }
    }
    // In an optional argument, or after the end of a row of a tabular, a bracket would have a meaning.
    out.replace('[', "{[}").replace(']', "{]}")
}

/// Invisible characters: display controls, joiners, and what is no character.
fn is_mark(c: char) -> bool {
    model::is_display_control(c) || matches!(c, '\u{200c}' | '\u{200d}' | '\u{fffe}' | '\u{ffff}')
}

/// The definitions that text of [`escape`] needs.
pub(crate) const NEEDS: &str =
    "\\providecommand\\staminaletter[2]{\\ifdefined\\Umathcode #1\\else{[}U+#2{]}\\fi\\allowbreak}%\n";

/// The letters that pdfTeX has no font for, in LaTeX whose texts [`escape`] made: all others are ASCII there.
pub(crate) fn foreign(latex: &str) -> BTreeSet<char> {
    latex.chars().filter(|c| !c.is_ascii()).collect()
}

/// The text as pdfTeX typesets it: letters without a font are their numbers.
pub(crate) fn with_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if plain(c) || letter(c).is_some() || c.is_control() || is_mark(c) {
            out.push(c);
        } else {
            out.push_str(&format!("[U+{:04X}] ", u32::from(c)));
        }
    }
    out
}

/// The command of a caption, with its short form for the list of figures or tables, from text of [`escape`]. A bracket would end
/// the short form, so one that has any stands in braces.
pub(crate) fn caption_command(short: &str, full: &str) -> String {
    if short.contains(['[', ']']) {
        format!("\\caption[{{{short}}}]{{{full}}}")
    } else {
        format!("\\caption[{short}]{{{full}}}")
    }
}

/// Every line as a comment.
pub(crate) fn comment(text: &str) -> String {
    text.lines().flat_map(|line| ["% ", line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_has_a_short_form_that_no_bracket_ends() {
        assert_eq!(caption_command("Runs", "Runs. n = 3."), "\\caption[Runs]{Runs. n = 3.}");
        assert_eq!(caption_command("Mean [95 \\% CI]", "a"), "\\caption[{Mean [95 \\% CI]}]{a}");
    }

    #[test]
    fn nothing_is_a_command() {
        assert_eq!(
            escape("\\input{/etc/passwd} 50% $x$ a_b & c\n\\\\"),
            "\\textbackslash{}input\\{/etc/passwd\\} 50\\% \\ensuremath{\\mathdollar}x\\ensuremath{\\mathdollar} a\\_b \\& c \\textbackslash{}\\textbackslash{}"
        );
        assert_eq!(escape("[x] -- 'q'"), "{[}x{]} -{}-{} '{}q'{}");
        assert_eq!(escape("生\u{202e}é τ"), "\\staminaletter{生}{751F}\\'e \\ensuremath{\\tau}");
        assert_eq!(foreign(&escape("生é τ\u{202e}生א")), BTreeSet::from(['א', '生']));
    }

    #[test]
    fn a_comment_ends_nowhere() {
        assert_eq!(comment("a\n\\b"), "% a\n% \\b\n");
    }
}
