// The harnesses that come with Stamina Lab and need a container: the word of each in settings, and its image (without version). A
// test of `workbench` compares them with the harnesses of the program.
export const IMAGES = {
  MINI_SWE: "mini-swe-agent",
  OPENHANDS: "openhands",
  OPENCODE: "opencode",
  QWEN_CODE: "qwen-code",
  KIMI_CLI: "kimi-cli",
  KIMI_CODE: "kimi-code",
  VIBE: "mistral-vibe",
  CLAUDE_CODE: "claude-code",
  CODEX: "codex",
};
