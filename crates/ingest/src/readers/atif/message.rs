//! What of a message matters to an import, without its text.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::json::{Node, TEXT_CAP, cut, within_64_bits};
use super::parts::{content, part_text};

/// Whether there is a message, a fingerprint by which it is known again, and the instruction in one that a harness has framed
/// with words of its own. No other message is kept: of one in parts no more than its start and one part at a time.
#[derive(Debug)]
pub(super) struct Message {
    /// Whether it has no text.
    pub(super) is_empty: bool,
    /// The same for messages of the same words; `None` = there is none.
    pub(super) fingerprint: Option<u64>,
    /// The instruction in a frame.
    pub(super) instruction: Option<String>,
}

impl Default for Message {
    fn default() -> Self {
        Self { is_empty: true, fingerprint: None, instruction: None }
    }
}

impl Message {
    fn from_text(text: &str) -> Self {
        let instruction = without_frame(text).filter(|instruction| instruction.len() <= TEXT_CAP);
        Self {
            is_empty: cut(text, TEXT_CAP).0.trim().is_empty(),
            fingerprint: Some(fingerprint(text)),
            instruction: instruction.map(str::to_owned),
        }
    }

    fn from_node(node: &Node) -> Self {
        Self::from_text(&content(node).0)
    }
}

/// The same for texts of the same words: programs join the results of tools with different separators. Of a long text its
/// start counts, as of one that is kept.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in cut(text, TEXT_CAP).0.split_whitespace() {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

/// The fingerprint of the texts of results of tools, one after the other.
pub(super) fn fingerprint_of_results(results: &[Node]) -> u64 {
    let mut all = String::new();
    for result in results {
        let (text, lost) = result.get("content").map(content).unwrap_or_default();
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text);
        if lost > 0 || all.len() >= TEXT_CAP {
            break;
        }
    }
    fingerprint(&all)
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Message;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a message")
            }
            fn visit_str<E>(self, text: &str) -> Result<Message, E> {
                Ok(Message::from_text(text))
            }
            fn visit_unit<E>(self) -> Result<Message, E> {
                Ok(Message::default())
            }
            fn visit_bool<E>(self, value: bool) -> Result<Message, E> {
                Ok(Message::from_node(&Node::Bool(value)))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Message, E> {
                Ok(Message::from_node(&Node::Number(value.into())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Message, E> {
                Ok(Message::from_node(&Node::Number(value.into())))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Message, E> {
                within_64_bits(value).map(|number| Message::from_node(&Node::Number(number)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Message, A::Error> {
                let (mut text, mut has_parts) = (String::new(), false);
                while let Some(part) = parts.next_element::<Node>()? {
                    if text.len() < TEXT_CAP {
                        if has_parts {
                            text.push('\n');
                        }
                        text.push_str(&part_text(&part).0);
                    }
                    has_parts = true;
                }
                Ok(if has_parts { Message::from_text(&text) } else { Message::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Message, A::Error> {
                let node = Node::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Message::from_node(&node))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The instruction in the first message of Terminus, which puts its system prompt before it and the screen behind it.
fn without_frame(message: &str) -> Option<&str> {
    const BEFORE: &str = "\nTask Description:\n";
    const BEHIND: &str = "\nCurrent terminal state:\n";
    let system = message.find(BEFORE)?;
    let instruction = &message[system + BEFORE.len()..];
    Some(instruction[..instruction.rfind(BEHIND)?].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message is read as it streams by, the content of a result once it is there.
    #[test]
    fn a_message_has_the_fingerprint_of_a_result_of_the_same_content() {
        let long = format!("\n {}ä", "x ".repeat(TEXT_CAP));
        for message in [
            serde_json::json!("out1\nout2"),
            serde_json::json!([{ "type": "text", "text": "out1" }, { "type": "text", "text": "out2" }]),
            serde_json::json!([{ "type": "text", "text": "" }]),
            serde_json::json!([{ "type": "image", "source": { "media_type": "image/png", "path": "a.png" } }, "b", null]),
            serde_json::json!({ "text": 1.5 }),
            serde_json::json!(true),
            serde_json::json!(-1),
            serde_json::json!(2.5e9),
            serde_json::json!(long),
            serde_json::json!([{ "text": long }, { "text": "more" }]),
        ] {
            let result: Node = serde_json::from_value(serde_json::json!({ "content": message })).unwrap();
            let (text, _) = content(result.get("content").unwrap());
            // Out of a text, as a file is read.
            let read: Message = serde_json::from_str(&message.to_string()).unwrap();
            assert_eq!(read.fingerprint, Some(fingerprint_of_results(&[result])), "{message}");
            assert_eq!(
                (read.fingerprint, read.is_empty),
                (Some(fingerprint(&text)), text.trim().is_empty()),
                "{message}"
            );
        }
        let no_message: Message = serde_json::from_str("[]").unwrap();
        assert_eq!((no_message.fingerprint, no_message.is_empty), (None, true));
    }

    #[test]
    fn results_that_are_joined_have_the_fingerprint_of_all_of_them() {
        let results: Vec<Node> =
            serde_json::from_str(r#"[{"content": "out1\n"}, {"content": "out2"}, {}]"#).unwrap();
        for joined in ["out1\nout2", "out1\n\nout2\n", "out1 out2"] {
            assert_eq!(fingerprint(joined), fingerprint_of_results(&results), "{joined}");
        }
        for other in ["out1", "out2\nout1", "out1\nout2\nDone."] {
            assert_ne!(fingerprint(other), fingerprint_of_results(&results), "{other}");
        }
    }
}
