interface ImageShape {
  readonly width: number;
  readonly height: number;
  readonly frames?: number;
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** Without pixels; with several frames, it is an animation. */
export function webpBytes({ width, height, frames = 1 }: ImageShape): Buffer {
  const canvas = Buffer.alloc(10);
  canvas[0] = frames > 1 ? 0x02 : 0;
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  const animated = Array.from({ length: frames > 1 ? frames : 0 }, () =>
    chunk("ANMF", Buffer.alloc(16)),
  );
  const content = Buffer.concat([Buffer.from("WEBP"), chunk("VP8X", canvas), ...animated]);
  return chunk("RIFF", content);
}

export function gifBytes({ width, height, frames = 1 }: ImageShape): Buffer {
  const head = Buffer.alloc(13);
  head.write("GIF89a", "latin1");
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.concat([Buffer.of(0x2c), Buffer.alloc(9), Buffer.of(2, 0)]);
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.of(0x3b)]);
}
