/** Boxes of an MP4 file that contain other boxes on the way to the header of a track. */
const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak"]);
const HEADER_BYTES = 8;
/** Length of a track header of version 0; one of version 1 has three times of 8 bytes instead of 4. */
const TRACK_HEADER_BYTES = 84;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The boxes of an MP4 file, or of a box in it, each as its type and content. */
function* boxes(file: Buffer): Generator<readonly [string, Buffer]> {
  for (let at = 0; at + HEADER_BYTES <= file.length;) {
    const length = file.readUInt32BE(at);
    const isRest = length < HEADER_BYTES || at + length > file.length;
    const end = isRest ? file.length : at + length;
    yield [
      file.toString("latin1", at + 4, at + HEADER_BYTES),
      file.subarray(at + HEADER_BYTES, end),
    ];
    at = end;
  }
}

/** The size in a track header as it is shown: a matrix that turns the picture by 90 or 270 degrees exchanges the sides. */
function trackSize(header: Buffer): Size | undefined {
  const shift = header[0] === 1 ? 12 : 0;
  if (header.length < TRACK_HEADER_BYTES + shift) {
    return undefined;
  }
  const width = header.readUInt16BE(76 + shift);
  const height = header.readUInt16BE(80 + shift);
  const isTurned = header.readInt32BE(40 + shift) === 0 && header.readInt32BE(44 + shift) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}

/** The size of the first track with a picture in an MP4 or MOV file; undefined when the file has no such track. */
export function mp4Size(file: Buffer): Size | undefined {
  for (const [type, content] of boxes(file)) {
    const size = CONTAINERS.has(type) ? mp4Size(content) : undefined;
    const found = type === "tkhd" ? trackSize(content) : size;
    if (found !== undefined && found.width > 0) {
      return found;
    }
  }
  return undefined;
}
