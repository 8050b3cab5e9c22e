import { unreadable } from "#src/domain/media-rejected.ts";
import type { ByteSource } from "./video-layout.ts";

export interface Element {
  readonly id: number;
  readonly start: number;
  readonly payload: number;
  readonly end: number;
  readonly isUnknownSize: boolean;
}

/** Reads elements, at most `maxElements`, so that empty ones cannot use up processor time. */
export class ElementReader {
  readonly source: ByteSource;
  #left: number;

  constructor(source: ByteSource, maxElements: number) {
    this.source = source;
    this.#left = maxElements;
  }

  /** RFC 8794, sections 4 to 6. An element of unknown size ends with its parent. */
  element(start: number, limit: number): Element {
    this.#left -= 1;
    if (this.#left < 0) throw unreadable("The video has too many elements.");
    const head = this.source.read(start, 12);
    const idBytes = Math.clz32(head[0] ?? 0) - 23;
    const sizeBytes = Math.clz32(head[idBytes] ?? 0) - 23;
    if (idBytes > 4 || sizeBytes > 8 || idBytes + sizeBytes > head.length)
      throw unreadable("An element of the video is truncated or invalid.");
    const payload = start + idBytes + sizeBytes;
    const size = readSize(head, idBytes, sizeBytes);
    const end = size === undefined ? limit : payload + size;
    if (end > limit) throw unreadable("An element of the video extends beyond its parent.");
    const id = head.readUIntBE(0, idBytes);
    return { id, start, payload, end, isUnknownSize: size === undefined };
  }

  children(parent: Element | undefined): Element[] {
    const children: Element[] = [];
    if (parent === undefined) return children;
    for (let at = parent.payload; at < parent.end;) {
      const child = this.element(at, parent.end);
      if (child.isUnknownSize) throw unreadable("An element of the video has no size.");
      children.push(child);
      at = child.end;
    }
    return children;
  }

  unsigned(element: Element | undefined): number | undefined {
    if (element === undefined) return undefined;
    const bytes = element.end - element.payload;
    if (bytes > 8) throw unreadable("A number of the video is too long.");
    let value = 0;
    for (const byte of this.source.read(element.payload, bytes)) value = value * 256 + byte;
    return value;
  }

  float(element: Element | undefined): number | undefined {
    if (element === undefined) return undefined;
    const bytes = this.source.read(element.payload, element.end - element.payload);
    if (bytes.length === 8) return bytes.readDoubleBE(0);
    if (bytes.length === 4) return bytes.readFloatBE(0);
    throw unreadable("A number of the video has a wrong length.");
  }

  /** Up to the first zero byte, at most 256 bytes. */
  text(element: Element | undefined): string {
    if (element === undefined) return "";
    const bytes = this.source.read(element.payload, Math.min(256, element.end - element.payload));
    return bytes.toString("utf8").split("\0", 1)[0] ?? "";
  }
}

/** Undefined when all bits are set: the writer did not know the size when it began. */
function readSize(head: Buffer, at: number, bytes: number): number | undefined {
  let value = (head[at] ?? 0) & (0xff >> bytes);
  let isUnknown = value === 0xff >> bytes;
  for (let index = 1; index < bytes; index += 1) {
    const byte = head[at + index] ?? 0;
    isUnknown &&= byte === 0xff;
    value = value * 256 + byte;
  }
  return isUnknown ? undefined : value;
}
