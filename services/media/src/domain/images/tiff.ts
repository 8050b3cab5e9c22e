import { unreadable } from "#src/domain/media-rejected.ts";
import type { ImageLayout, ImagePart } from "./image-layout.ts";

const MAX_PAGES = 100;
const MAX_ENTRIES = 4096;
/** Of directories in directories. */
const MAX_DEPTH = 2;
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
/**
 * Tags that lead to further directories: those of smaller versions of the page, which have metadata
 * of their own, EXIF, GPS and interoperability.
 */
const DIRECTORY_TAGS = new Set([330, 34665, 34853, 40965]);
/**
 * Make, model, artist, host computer, XMP, IPTC, Photoshop, copyright, Windows' XP tags, serial
 * numbers, and directories.
 */
const PERSONAL_TAGS = new Set([
  ...DIRECTORY_TAGS,
  271,
  272,
  315,
  316,
  700,
  33432,
  33723,
  34377,
  37724,
  40091,
  40092,
  40093,
  40094,
  40095,
  42032,
  42033,
  50735,
  50740,
  50827,
]);
/** Also document name, description, page name, program and time. */
const DROPPED_TAGS = new Set([...PERSONAL_TAGS, 269, 270, 285, 305, 306]);

interface Reader {
  readonly file: Buffer;
  readonly u16: (at: number) => number;
  readonly u32: (at: number) => number;
  readonly writeU16: (target: Buffer, value: number, at: number) => void;
}

interface Entry {
  readonly tag: number;
  readonly at: number;
  readonly valueAt: number;
  readonly valueBytes: number;
  readonly value: number;
}

interface Directory {
  readonly at: number;
  readonly entries: readonly Entry[];
  readonly next: number;
}

/**
 * Reads the directories of a TIFF (TIFF 6.0, section 2); BigTIFF, for files over 4 GB, is rejected.
 */
export function readTiff(file: Buffer): ImageLayout {
  const reader = openReader(file);
  const pages = readPages(reader);
  const sizes = pages.map((page) => pageSize(page));
  const [first] = sizes;
  if (first === undefined) throw unreadable("The TIFF has no page.");
  return {
    ...first,
    frames: pages.length,
    totalPixels: sizes.reduce((total, { width, height }) => total + width * height, 0),
    decodeBytes: Math.max(...pages.map((page) => rowsAtOnce(page))),
    lossless: true,
    hasMetadata: pages.some(({ entries }) => entries.some(({ tag }) => PERSONAL_TAGS.has(tag))),
    withoutMetadata: () => [blank(reader, pages)],
  };
}

function openReader(file: Buffer): Reader {
  const order = file.toString("latin1", 0, 2);
  const little = order === "II";
  const u16 = (at: number) => {
    if (at + 2 > file.length) throw unreadable("The TIFF is truncated.");
    return little ? file.readUInt16LE(at) : file.readUInt16BE(at);
  };
  const u32 = (at: number) => {
    if (at + 4 > file.length) throw unreadable("The TIFF is truncated.");
    return little ? file.readUInt32LE(at) : file.readUInt32BE(at);
  };
  const writeU16 = (target: Buffer, value: number, at: number) =>
    void (little ? target.writeUInt16LE(value, at) : target.writeUInt16BE(value, at));
  if (file.length < 8 || u16(2) !== 42) throw unreadable("The header of the TIFF is invalid.");
  return { file, u16, u32, writeU16 };
}

function readPages(reader: Reader): Directory[] {
  const pages: Directory[] = [];
  const seen = new Set<number>();
  let at = reader.u32(4);
  while (at !== 0) {
    if (seen.has(at)) throw unreadable("The page list of the TIFF contains a loop.");
    if (pages.length >= MAX_PAGES) throw unreadable(`The TIFF has more than ${MAX_PAGES} pages.`);
    seen.add(at);
    const page = readDirectory(reader, at);
    pages.push(page);
    at = page.next;
  }
  return pages;
}

function readDirectory(reader: Reader, at: number): Directory {
  const count = reader.u16(at);
  if (count === 0 || count > MAX_ENTRIES)
    throw unreadable("A directory of the TIFF has an invalid number of entries.");
  const entries = Array.from({ length: count }, (_, index) =>
    readEntry(reader, at + 2 + 12 * index),
  );
  return { at, entries, next: reader.u32(at + 2 + 12 * count) };
}

function readEntry(reader: Reader, at: number): Entry {
  const tag = reader.u16(at);
  const type = reader.u16(at + 2);
  const valueBytes = (TYPE_BYTES[type] ?? 1) * reader.u32(at + 4);
  const word = reader.u32(at + 8);
  const valueAt = valueBytes <= 4 ? at + 8 : word;
  if (valueAt + valueBytes > reader.file.length)
    throw unreadable("A value of the TIFF is truncated.");
  return { tag, at, valueAt, valueBytes, value: type === 3 ? reader.u16(at + 8) : word };
}

function valueOf(page: Directory, tag: number): number | undefined {
  return page.entries.find((entry) => entry.tag === tag)?.value;
}

function pageSize(page: Directory): { width: number; height: number } {
  return { width: valueOf(page, 256) ?? 0, height: valueOf(page, 257) ?? 0 };
}

/** A decoder keeps one strip, or one row of tiles. */
function rowsAtOnce(page: Directory): number {
  const { width, height } = pageSize(page);
  const pixelBytes = Math.ceil(((valueOf(page, 277) ?? 1) * sampleBits(page)) / 8);
  const tile = { width: valueOf(page, 322), height: valueOf(page, 323) };
  if (tile.width !== undefined && tile.height !== undefined)
    return Math.max(width, tile.width) * tile.height * pixelBytes;

  return width * Math.min(height, valueOf(page, 278) ?? height) * pixelBytes;
}

/** An entry that is only an offset to a list counts as 16, the most that decoders support. */
function sampleBits(page: Directory): number {
  const entry = page.entries.find(({ tag }) => tag === 258);
  if (entry === undefined) return 1;
  return entry.valueBytes <= 2 ? entry.value : 16;
}

/** Values are zeroed in place, so that the offsets of the image data stay valid. */
function blank(reader: Reader, pages: readonly Directory[]): ImagePart {
  const copy = Buffer.from(reader.file);
  for (const page of pages)
    for (const entry of page.entries) {
      if (!DROPPED_TAGS.has(entry.tag)) continue;
      blankDirectories(reader, copy, entry, 0);
      if (entry.valueBytes > 4) copy.fill(0, entry.valueAt, entry.valueAt + entry.valueBytes);
    }

  for (const page of pages) writeDirectory(reader, copy, page);
  return copy;
}

function blankDirectories(reader: Reader, copy: Buffer, entry: Entry, depth: number): void {
  if (!DIRECTORY_TAGS.has(entry.tag) || depth > MAX_DEPTH) return;
  for (let at = entry.valueAt; at + 4 <= entry.valueAt + entry.valueBytes; at += 4)
    blankDirectory(reader, copy, reader.u32(at), depth);
}

function blankDirectory(reader: Reader, copy: Buffer, at: number, depth: number): void {
  const { entries } = readDirectory(reader, at);
  for (const entry of entries) {
    blankDirectories(reader, copy, entry, depth + 1);
    copy.fill(0, entry.valueAt, entry.valueAt + entry.valueBytes);
  }
  copy.fill(0, at, at + 2 + 12 * entries.length + 4);
}

function writeDirectory(reader: Reader, copy: Buffer, page: Directory): void {
  const kept = page.entries.filter(({ tag }) => !DROPPED_TAGS.has(tag));
  const end = page.at + 2 + 12 * page.entries.length + 4;
  const table = Buffer.alloc(end - page.at);
  reader.writeU16(table, kept.length, 0);
  kept.forEach(({ at }, index) => reader.file.copy(table, 2 + 12 * index, at, at + 12));
  reader.file.copy(table, 2 + 12 * kept.length, end - 4, end);
  table.copy(copy, page.at);
}
