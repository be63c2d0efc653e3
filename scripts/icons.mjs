// `npm run icons`: the icons of every system from icons/icon.svg: PNG for Linux, ICO for Windows, ICNS for macOS.
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "@playwright/test";
import { browserOptions } from "./lib/browser.mjs";
import { inRoot } from "./lib/process.mjs";

const svg = readFileSync(inRoot("icons/icon.svg"), "utf8");
const browser = await chromium.launch(browserOptions());
const page = await browser.newPage();
const drawn = new Map();

/** The icon as PNG with a transparent ground, `size` pixels square. */
async function png(size) {
  if (!drawn.has(size)) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(`<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`);
    drawn.set(size, await page.screenshot({ omitBackground: true }));
  }
  return drawn.get(size);
}

/** ICO: a directory of entries, each a whole PNG. */
async function ico(sizes) {
  const images = await Promise.all(sizes.map(png));
  const directory = Buffer.alloc(6 + 16 * sizes.length);
  directory.writeUInt16LE(1, 2);
  directory.writeUInt16LE(sizes.length, 4);
  let offset = directory.length;
  images.forEach((image, i) => {
    const at = 6 + 16 * i;
    directory[at] = directory[at + 1] = sizes[i] % 256; // 0 stands for 256
    directory.writeUInt16LE(1, at + 4);
    directory.writeUInt16LE(32, at + 6);
    directory.writeUInt32LE(image.length, at + 8);
    directory.writeUInt32LE(offset, at + 12);
    offset += image.length;
  });
  return Buffer.concat([directory, ...images]);
}

/** ICNS: blocks of a type, a length and a PNG. */
async function icns(types) {
  const blocks = [];
  for (const [type, size] of types) {
    const image = await png(size);
    const head = Buffer.alloc(8);
    head.write(type, 0, "latin1");
    head.writeUInt32BE(image.length + 8, 4);
    blocks.push(head, image);
  }
  const body = Buffer.concat(blocks);
  const head = Buffer.alloc(8);
  head.write("icns", 0, "latin1");
  head.writeUInt32BE(body.length + 8, 4);
  return Buffer.concat([head, body]);
}

try {
  for (const [name, size] of [["32x32.png", 32], ["128x128.png", 128], ["128x128@2x.png", 256], ["icon.png", 512]]) {
    writeFileSync(inRoot("icons", name), await png(size));
  }
  for (const size of [16, 24, 48, 64]) await png(size);
  writeFileSync(inRoot("icons/icon.ico"), await ico([16, 24, 32, 48, 64, 256]));
  writeFileSync(inRoot("icons/icon.icns"), await icns([["icp4", 16], ["icp5", 32], ["icp6", 64], ["ic07", 128], ["ic08", 256], ["ic09", 512], ["ic10", 1024]]));
} finally {
  await browser.close();
}
