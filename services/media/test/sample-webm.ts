/** A minimal WebM muxer for valid and broken test files. */

/** Identifiers of the WebM elements that tests need. */
export const ID = {
  header: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codec: 0x86,
  video: 0xe0,
  width: 0xb0,
  height: 0xba,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  tags: 0x1254c367,
  tag: 0x7373,
  simpleTag: 0x67c8,
  tagName: 0x45a3,
  tagString: 0x4487,
  void: 0xec,
};

/** Returns a WebM element with its size in eight bytes. */
export function element(id: number, ...payload: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(payload);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((1n << 56n) | BigInt(content.length));
  return Buffer.concat([idBytes(id), size, content]);
}

/** Returns a WebM element of unknown size. */
export function endless(id: number, ...payload: readonly Uint8Array[]): Buffer {
  return Buffer.concat([idBytes(id), Buffer.from("01ffffffffffffff", "hex"), ...payload]);
}

/** Returns a WebM element with an unsigned number of four bytes. */
export function unsigned(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return element(id, bytes);
}

export function float(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
}

export function text(id: number, value: string): Buffer {
  return element(id, Buffer.from(value));
}

function idBytes(id: number): Buffer {
  const hex = id.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
}

export interface WebmParts {
  readonly docType: string;
  readonly info: readonly Buffer[];
  readonly video: readonly Buffer[];
  readonly inSegment: readonly Buffer[];
  readonly live: boolean;
}

/**
 * Returns a WebM video of 320 x 240 pixels and two seconds. Its frames contain no image data,
 * because no parser decodes them.
 */
export function sampleWebm(parts: Partial<WebmParts> = {}): Buffer {
  const live = parts.live ?? false;
  const info = parts.info ?? [unsigned(ID.timestampScale, 1_000_000), float(ID.duration, 2000)];
  const video = parts.video ?? [unsigned(ID.width, 320), unsigned(ID.height, 240)];
  const block = element(ID.simpleBlock, Buffer.from([0x81, 0, 40, 0x80, 1, 2, 3]));
  const cluster = [unsigned(ID.timestamp, 1960), block];
  return Buffer.concat([
    element(ID.header, text(ID.docType, parts.docType ?? "webm")),
    (live ? endless : element)(
      ID.segment,
      element(ID.info, ...info),
      element(
        ID.tracks,
        element(
          ID.trackEntry,
          unsigned(ID.trackNumber, 1),
          unsigned(ID.trackType, 1),
          text(ID.codec, "V_VP8"),
          element(ID.video, ...video),
        ),
      ),
      ...(parts.inSegment ?? []),
      (live ? endless : element)(ID.cluster, ...cluster),
    ),
  ]);
}

/** Returns a WebM `Tags` element with one tag. */
export function tags(name: string, value: string): Buffer {
  return element(
    ID.tags,
    element(ID.tag, element(ID.simpleTag, text(ID.tagName, name), text(ID.tagString, value))),
  );
}
