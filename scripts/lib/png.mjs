// Screenshots as PNG with a palette: a user interface has few colors and large even areas, so that this takes less than
// half of what browsers write. Needs Node 20.15 (`crc32`).
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLORS = 256;

/**
 * The same picture in fewer bytes. Frequent colors and those far from all others stay as they are; the rest, which are
 * shades on the edges of letters, become the nearest of those. A picture of another kind than browsers write is given
 * back as it is.
 */
export function smaller(png) {
  const picture = decode(png);
  if (picture === null) return png;
  const { width, height, pixels } = picture;
  const counts = new Map();
  const at = (i) => (pixels[3 * i] << 16) | (pixels[3 * i + 1] << 8) | pixels[3 * i + 2];
  for (let i = 0; i < width * height; i += 1) counts.set(at(i), (counts.get(at(i)) ?? 0) + 1);
  const palette = choose(counts);
  const index = new Map(palette.map((color, i) => [color, i]));
  for (const color of counts.keys()) if (!index.has(color)) index.set(color, nearest(palette, color));
  const indices = Buffer.alloc(width * height);
  for (let i = 0; i < indices.length; i += 1) indices[i] = index.get(at(i));
  return encode(width, height, indices, Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255])));
}

/** Half of the palette by frequency, half by how much would be lost without the color. */
function choose(counts) {
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const palette = byCount.slice(0, COLORS / 2).map(([color]) => color);
  const rest = byCount.slice(COLORS / 2).map(([color, count]) => ({ color, weight: Math.sqrt(count), away: Math.min(...palette.map((other) => distance(color, other))) }));
  while (palette.length < COLORS && rest.length > 0) {
    const worst = rest.reduce((a, b) => (b.away * b.weight > a.away * a.weight ? b : a));
    if (worst.away === 0) break;
    palette.push(worst.color);
    for (const one of rest) one.away = Math.min(one.away, distance(one.color, worst.color));
  }
  return palette;
}

function distance(a, b) {
  const [red, green, blue] = [(a >> 16) - (b >> 16), ((a >> 8) & 255) - ((b >> 8) & 255), (a & 255) - (b & 255)];
  return 2 * red * red + 4 * green * green + blue * blue;
}

function nearest(palette, color) {
  let best = 0;
  for (let i = 1; i < palette.length; i += 1) if (distance(palette[i], color) < distance(palette[best], color)) best = i;
  return best;
}

/** Width, height and RGB of an 8-bit RGB or opaque RGBA picture. */
function decode(png) {
  if (!png.subarray(0, 8).equals(SIGNATURE)) return null;
  const parts = [];
  let head = null;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") head = { width: body.readUInt32BE(0), height: body.readUInt32BE(4), depth: body[8], kind: body[9], interlaced: body[12] };
    if (type === "IDAT") parts.push(body);
    at += 12 + length;
  }
  if (head === null || head.depth !== 8 || head.interlaced !== 0 || (head.kind !== 2 && head.kind !== 6)) return null;
  const channels = head.kind === 2 ? 3 : 4;
  const stride = head.width * channels;
  const raw = inflateSync(Buffer.concat(parts));
  const pixels = Buffer.alloc(head.width * head.height * 3);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < head.height; y += 1) {
    const filter = raw[y * (stride + 1)];
    const line = raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1));
    for (let x = 0; x < stride; x += 1) {
      const left = x >= channels ? line[x - channels] : 0;
      const corner = x >= channels ? above[x - channels] : 0;
      line[x] = (line[x] + predicted(filter, left, above[x], corner)) & 255;
    }
    for (let x = 0; x < head.width; x += 1) {
      if (channels === 4 && line[4 * x + 3] !== 255) return null;
      line.copy(pixels, (y * head.width + x) * 3, x * channels, x * channels + 3);
    }
    above = line;
  }
  return { width: head.width, height: head.height, pixels };
}

function predicted(filter, left, up, corner) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const p = left + up - corner;
  const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function encode(width, height, indices, palette) {
  const raw = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) indices.copy(raw, y * (width + 1) + 1, y * width, (y + 1) * width);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  head[9] = 3;
  const chunks = [chunk("IHDR", head), chunk("PLTE", palette), chunk("IDAT", deflateSync(raw, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(type, body) {
  const whole = Buffer.alloc(12 + body.length);
  whole.writeUInt32BE(body.length, 0);
  whole.write(type, 4, "latin1");
  body.copy(whole, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, 8 + body.length)), 8 + body.length);
  return whole;
}
