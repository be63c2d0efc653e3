// What a window manager would do, of which the tests have none: asks windows of a virtual screen to close. The few requests
// of the X11 protocol that this takes, over the screen's socket.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Smaller ones are the toolkit's own. */
const LEAST_WIDTH = 300;
const [GEOMETRY, TREE, ATOM, PROPERTY, SEND] = [14, 15, 16, 20, 25] as const;
const CLIENT_MESSAGE = 33;

class Screen {
  readonly #socket: Socket;
  #come = Buffer.alloc(0);
  #closed = false;
  #news: () => void = () => undefined;
  root = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (part: Buffer) => {
      this.#come = Buffer.concat([this.#come, part]);
      this.#news();
    });
    socket.on("close", () => {
      this.#closed = true;
      this.#news();
    });
    // The close that follows says it.
    socket.on("error", () => undefined);
  }

  /** `:7` by its socket. Without a file of cookies everyone of this machine is let in. */
  static async open(display: string): Promise<Screen> {
    const socket = connect(`/tmp/.X11-unix/X${display.replace(":", "")}`);
    await once(socket, "connect");
    const screen = new Screen(socket);
    // Least byte first, version 11.0, no authorization.
    socket.write(Buffer.from([0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    const head = await screen.#readBytes(8);
    const about = await screen.#readBytes(head.readUInt16LE(6) * 4);
    if (head[0] !== 1) throw new Error(`The screen refuses: ${about.toString()}`);
    const vendor = about.readUInt16LE(16);
    screen.root = about.readUInt32LE(32 + Math.ceil(vendor / 4) * 4 + about.readUInt8(21) * 8);
    return screen;
  }

  async #readBytes(length: number): Promise<Buffer> {
    while (this.#come.length < length) {
      if (this.#closed) throw new Error("The screen is gone");
      await new Promise<void>((done) => (this.#news = done));
    }
    const taken = this.#come.subarray(0, length);
    this.#come = this.#come.subarray(length);
    return taken;
  }

  #write(opcode: number, detail: number, body: Buffer): void {
    const request = Buffer.alloc(4 + Math.ceil(body.length / 4) * 4);
    request.writeUInt8(opcode, 0);
    request.writeUInt8(detail, 1);
    request.writeUInt16LE(request.length / 4, 2);
    body.copy(request, 4);
    this.#socket.write(request);
  }

  /** Asks, and gives the answer; nothing where it is an error, such as for a window that went away meanwhile. */
  async #request(opcode: number, detail: number, body: Buffer): Promise<Buffer | undefined> {
    this.#write(opcode, detail, body);
    for (;;) {
      const head = await this.#readBytes(32);
      if (head[0] === 0) return undefined;
      if (head[0] === 1) return Buffer.concat([head, await this.#readBytes(head.readUInt32LE(4) * 4)]);
    }
  }

  async atom(name: string): Promise<number> {
    const body = Buffer.alloc(4 + name.length);
    body.writeUInt16LE(name.length, 0);
    body.write(name, 4, "latin1");
    return (await this.#request(ATOM, 0, body))?.readUInt32LE(8) ?? 0;
  }

  async children(): Promise<number[]> {
    const tree = await this.#request(TREE, 0, words(this.root));
    return Array.from({ length: tree?.readUInt16LE(16) ?? 0 }, (_, i) => tree!.readUInt32LE(32 + 4 * i));
  }

  async width(window: number): Promise<number> {
    return (await this.#request(GEOMETRY, 0, words(window)))?.readUInt16LE(16) ?? 0;
  }

  /** A property that is a list of atoms. */
  async atoms(window: number, property: number): Promise<number[]> {
    const answer = await this.#request(PROPERTY, 0, words(window, property, 0, 0, 64));
    return Array.from({ length: answer?.[1] === 32 ? answer.readUInt32LE(16) : 0 }, (_, i) => answer!.readUInt32LE(32 + 4 * i));
  }

  /** A message of one word to a window. */
  sendMessage(window: number, type: number, word: number): void {
    const event = Buffer.alloc(32);
    event.writeUInt8(CLIENT_MESSAGE, 0);
    event.writeUInt8(32, 1);
    event.writeUInt32LE(window, 4);
    event.writeUInt32LE(type, 8);
    event.writeUInt32LE(word, 12);
    this.#write(SEND, 0, Buffer.concat([words(window, 0), event]));
  }

  async close(): Promise<void> {
    // An answer says that everything before has been taken.
    await this.atom("WM_PROTOCOLS");
    this.#socket.destroy();
  }
}

function words(...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * numbers.length);
  numbers.forEach((n, i) => buffer.writeUInt32LE(n, 4 * i));
  return buffer;
}

/** Asks every window of a program to close, as its button in the title bar does; gives how many there are. */
export async function askWindowsToClose(display: string): Promise<number> {
  const screen = await Screen.open(display);
  const [protocols, remove] = [await screen.atom("WM_PROTOCOLS"), await screen.atom("WM_DELETE_WINDOW")];
  let count = 0;
  for (const window of await screen.children()) {
    if ((await screen.width(window)) < LEAST_WIDTH || !(await screen.atoms(window, protocols)).includes(remove)) continue;
    screen.sendMessage(window, protocols, remove);
    count += 1;
  }
  await screen.close();
  return count;
}
