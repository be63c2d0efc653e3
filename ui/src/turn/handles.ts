/** What the page does with its panes from the keyboard. */
export interface PaneHandle {
  focus(): void;
}
export interface TestsHandle extends PaneHandle {
  /** Goes to the next failing test (or the one before); false = there is none. */
  step(by: 1 | -1): boolean;
}
