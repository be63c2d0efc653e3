//! A request, taken apart: what it asks for, the clause in it, what follows from it, the clauses below it.

use super::known_entities::KnownEntities;

/// Sentences, each with its mark.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let (mut all, mut sentence_start, mut quoted) = (Vec::new(), 0, false);
    for (start, letter) in text.char_indices() {
        quoted ^= letter == '`';
        let end = start + letter.len_utf8();
        if !quoted && matches!(letter, '.' | '?' | '!') && text[end..].starts_with(' ') {
            all.push(text[sentence_start..end].trim());
            sentence_start = end;
        }
    }
    all.push(text[sentence_start..].trim());
    all
}

/// Where a clause is in a paragraph.
fn inline_clause(text: &str) -> Option<(usize, usize)> {
    let end_of =
        |position: usize, end: &str| text[position..].find(end).map(|start| position + start + end.len());
    for verb in ["` requires that ", "` sets ", "` increases ", "` decreases ", "` creates a"] {
        if let Some(start) = text.find(verb) {
            let position = text[..start].rfind('`')?;
            let until = match verb {
                "` requires that " => end_of(position, "; otherwise it is *refused*.")?,
                _ => position + sentences(&text[position..]).first()?.len(),
            };
            return Some((position, until));
        }
    }
    let rest = |begin: &str| text.find(begin).map(|position| (position, text.len()));
    if let Some(start) = text.find("` returns ") {
        let position = text[..start].rfind('`')?;
        let until = end_of(position, "It has no query parameters.")
            .or_else(|| end_of(position, " is the given id."))?;
        return Some((position, until));
    }
    for begin in
        ["Every response with a status code of", "The body of a list is `", "Lists are paginated with"]
    {
        if let Some(found) = rest(begin) {
            return Some(found);
        }
    }
    let position = text.find("Apart from `id`, `deleted` and computed fields, an unknown key")?;
    Some((position, position + sentences(&text[position..]).first()?.len()))
}

/// Sentences that say how far a change reaches, or what follows from it.
const CONSEQUENCES: [&str; 21] = [
    "This applies to all paths of the collection",
    "The new name applies to request bodies",
    " stay as they are",
    " use the new word, too",
    " no longer exist",
    " does not exist: ",
    " do not exist: ",
    " any more: responses do not show",
    " is now *invalid*.",
    " now ignores the query parameter",
    ": `sort=",
    " now accepts ",
    " are no longer a *conflict*",
    " can now change ",
    " no longer has the condition that ",
    " no longer changes ",
    " no longer creates ",
    ": a deleted record is removed, ",
    " is no longer limited to ",
    "In their list, ",
    "The old paths ",
];

/// A request, taken apart.
pub(super) struct Parts<'a> {
    /// What is asked for, masked.
    pub(super) masked: String,
    /// What is asked for, as it is written.
    pub(super) plain: String,
    /// What is in backquotes there.
    pub(super) literals: Vec<&'a str>,
    /// The entity.
    pub(super) entity: String,
    /// The clause in the paragraph.
    pub(super) clause: Option<&'a str>,
    /// What follows.
    pub(super) consequences: Vec<&'a str>,
    /// The clauses below the paragraph.
    pub(super) list: Vec<&'a str>,
}

pub(super) fn parts<'a>(known: &KnownEntities, body: &'a str) -> Parts<'a> {
    let mut lines = body.trim_end().lines();
    let head = lines.next().unwrap_or_default();
    let list: Vec<&str> = lines.map(|line| line.trim_start().trim_start_matches("- ")).collect();
    let (pieces, clause) = match inline_clause(head) {
        Some((from, until)) => (vec![&head[..from], &head[until..]], Some(&head[from..until])),
        None => (vec![head], None),
    };
    let all = pieces.into_iter().flat_map(sentences).filter(|sentence| !sentence.is_empty());
    let (consequences, demands): (Vec<&str>, Vec<&str>) =
        all.partition(|sentence| CONSEQUENCES.iter().any(|mark| sentence.contains(mark)));
    let masked: Vec<(String, Vec<&str>)> = demands.iter().map(|sentence| known.masked(sentence)).collect();
    let telling = masked.iter().find(|(text, found)| text.contains('§') && !found.is_empty());
    let telling = telling.or_else(|| masked.iter().find(|(_, found)| !found.is_empty()));
    Parts {
        entity: telling.and_then(|(_, found)| found.first()).copied().unwrap_or_default().to_owned(),
        masked: masked.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" "),
        plain: demands.join(" "),
        literals: demands.iter().flat_map(|sentence| sentence.split('`').skip(1).step_by(2)).collect(),
        clause,
        consequences,
        list,
    }
}
