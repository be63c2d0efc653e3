// Two regions that scroll together: each at the same share of its own height, because the two sides are rarely equally long.

export class ScrollTogether {
  readonly #on: () => boolean;
  readonly #sides: [HTMLElement | undefined, HTMLElement | undefined] = [undefined, undefined];
  /** What was set from the other side; the scroll event that follows it is not caused by the reader. */
  readonly #set: [number | undefined, number | undefined] = [undefined, undefined];
  readonly #stop: [(() => void) | undefined, (() => void) | undefined] = [undefined, undefined];

  constructor(on: () => boolean) {
    this.#on = on;
  }

  /** Says what scrolls at a side now; `undefined` = nothing. */
  side(index: 0 | 1, scroller: HTMLElement | undefined): void {
    if (this.#sides[index] === scroller) return;
    this.#stop[index]?.();
    this.#stop[index] = undefined;
    this.#sides[index] = scroller;
    this.#set[index] = undefined;
    if (!scroller) return;
    const listen = (): void => {
      this.#follow(index);
    };
    scroller.addEventListener("scroll", listen, { passive: true });
    this.#stop[index] = () => {
      scroller.removeEventListener("scroll", listen);
    };
  }

  #follow(from: 0 | 1): void {
    const to = from === 0 ? 1 : 0;
    const [source, target] = [this.#sides[from], this.#sides[to]];
    if (!source || !target || !this.#on()) return;
    const set = this.#set[from];
    this.#set[from] = undefined;
    if (set !== undefined && Math.abs(source.scrollTop - set) < 2) return;
    const room = source.scrollHeight - source.clientHeight;
    const share = room <= 0 ? 0 : source.scrollTop / room;
    const top = Math.round(share * (target.scrollHeight - target.clientHeight));
    if (Math.abs(target.scrollTop - top) < 1) return;
    target.scrollTop = top;
    this.#set[to] = target.scrollTop;
  }

  stop(): void {
    this.side(0, undefined);
    this.side(1, undefined);
  }
}
