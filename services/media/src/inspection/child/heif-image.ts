import { tooManyPixels, unreadable } from "#src/domain/media-rejected.ts";
import { HeifMemory } from "./heif-memory.ts";
import { loadHeifModule } from "./heif-module.ts";
import { fourCharacters, readTransformations, type Crop } from "./heif-transformations.ts";

/** Enumerations of libheif's C interface. */
const RGB = 1;
const INTERLEAVED = 10;
const CHROMA = { 3: 10, 4: 11 } as const;
const NCLX = fourCharacters("nclx");
const DISPLAY_P3 = 12;

/** Phones take smaller pictures. Decoding this many pixels takes about five seconds. */
const MAX_PIXELS = 64_000_000;
const MAX_PROFILE_BYTES = 4_000_000;
const ROWS_AT_ONCE = 64;

interface Tiles {
  readonly columns: number;
  readonly rows: number;
  readonly width: number;
  readonly height: number;
}

/** A decoded tile, and the columns of it that are shown. */
interface Part {
  readonly image: number;
  /** Address of the pixels in the memory of libheif. */
  readonly plane: number;
  readonly rowBytes: number;
  /**
   * `from`: the first column of the tile that is shown; `to`: where it appears in the shown
   * picture.
   */
  readonly from: number;
  readonly to: number;
  readonly pixels: number;
}

/** The primary image of a HEIC or HEIF, decoded tile by tile. */
export class HeifImage {
  readonly crop: Crop;
  readonly orientation: number;
  readonly samples: 3 | 4;
  readonly #memory: HeifMemory;
  readonly #handle: number;

  /**
   * @throws MediaRejected for a picture that is not accepted, and libheif's error for a broken
   *   file.
   */
  constructor(content: Uint8Array) {
    const memory = new HeifMemory(loadHeifModule());
    const { module } = memory;
    const context = module._heif_context_alloc();
    memory.writeUint64(module._heif_context_get_security_limits(context) + 8, BigInt(MAX_PIXELS));
    const file = memory.copyIn(content);
    memory.call((error) =>
      module._heif_context_read_from_memory(error, context, file, content.length, 0),
    );
    this.#memory = memory;
    this.#handle = memory.callForAddress((error, target) =>
      module._heif_context_get_primary_image_handle(error, context, target),
    );
    const { crop, orientation } = readTransformations(memory, context, this.#handle);
    this.crop = crop;
    this.orientation = orientation;
    this.samples = module._heif_image_handle_has_alpha_channel(this.#handle) === 0 ? 3 : 4;
    this.#checkSize();
  }

  get heldBytes(): number {
    return this.#memory.module.HEAPU8.length;
  }

  /** The ICC profile; `display-p3` when only that name is given, undefined for sRGB. */
  readProfile(): Uint8Array | "display-p3" | undefined {
    const { module } = this.#memory;
    const handle = this.#handle;
    if (module._heif_image_handle_get_color_profile_type(handle) === NCLX) {
      const profile = this.#memory.callForAddress((error, target) =>
        module._heif_image_handle_get_nclx_color_profile(error, handle, target),
      );
      return this.#memory.readUint32(profile + 4) === DISPLAY_P3 ? "display-p3" : undefined;
    }
    const bytes = module._heif_image_handle_get_raw_color_profile_size(handle);
    if (bytes === 0 || bytes > MAX_PROFILE_BYTES) return undefined;
    const target = this.#memory.allocate(bytes);
    this.#memory.call((error) =>
      module._heif_image_handle_get_raw_color_profile(error, handle, target),
    );
    return this.#memory.copyOut(target, bytes);
  }

  /**
   * Yields the rows of the shown part from top to bottom. The bytes are valid until the next ones
   * are requested.
   */
  *decode(): Generator<Buffer, void> {
    const { module } = this.#memory;
    const tiles = this.#readTiles();
    const options = module._heif_decoding_options_alloc();
    // `ignore_transformations`: the tiles are decoded without crop and rotation.
    module.HEAPU8[options + 1] = 1;
    const { top, height, width } = this.crop;
    const rows = Buffer.alloc(ROWS_AT_ONCE * width * this.samples);
    for (let row = 0; row < tiles.rows; row += 1) {
      const first = Math.max(top, row * tiles.height);
      const end = Math.min(top + height, (row + 1) * tiles.height);
      if (end <= first) continue;
      const parts = this.#decodeRow(tiles, row, options);
      for (let y = first; y < end; y += ROWS_AT_ONCE)
        yield this.#copyRows(parts, y - row * tiles.height, {
          rows,
          count: Math.min(ROWS_AT_ONCE, end - y),
        });
      for (const { image } of parts) module._heif_image_release(image);
    }
  }

  /** Decodes the tiles of a row that are shown. */
  #decodeRow(tiles: Tiles, row: number, options: number): readonly Part[] {
    const { left, width } = this.crop;
    const parts: Part[] = [];
    for (let column = 0; column < tiles.columns; column += 1) {
      const start = column * tiles.width;
      const from = Math.max(left, start);
      const end = Math.min(left + width, start + tiles.width);
      if (end <= from) continue;
      const image =
        tiles.columns * tiles.rows === 1
          ? this.#readPixels(this.#decodeWhole(options))
          : this.#readPixels(this.#decodeTile(options, column, row));
      parts.push({ ...image, from: from - start, to: from - left, pixels: end - from });
    }
    return parts;
  }

  /** libheif decodes a picture without tiles as a tile only if no property crops or rotates it. */
  #decodeWhole(options: number): number {
    const { module } = this.#memory;
    const chroma = CHROMA[this.samples];
    return this.#memory.callForAddress((error, target) =>
      module._heif_decode_image(error, this.#handle, target, RGB, chroma, options),
    );
  }

  #decodeTile(options: number, column: number, row: number): number {
    const { module } = this.#memory;
    const handle = this.#handle;
    const chroma = CHROMA[this.samples];
    return this.#memory.callForAddress((error, target) =>
      module._heif_image_handle_decode_image_tile(
        error,
        handle,
        target,
        RGB,
        chroma,
        options,
        column,
        row,
      ),
    );
  }

  #readPixels(image: number): Pick<Part, "image" | "plane" | "rowBytes"> {
    const stride = this.#memory.allocate(4);
    const plane = this.#memory.module._heif_image_get_plane_readonly(image, INTERLEAVED, stride);
    if (plane === 0) throw unreadable("A part of the image has no pixels.");
    return { image, plane, rowBytes: this.#memory.readUint32(stride) };
  }

  #copyRows(
    parts: readonly Part[],
    top: number,
    { rows, count }: { readonly rows: Buffer; readonly count: number },
  ): Buffer {
    const { samples, crop } = this;
    const { module } = this.#memory;
    for (const { image, plane, rowBytes, from, to, pixels } of parts) {
      const isInside =
        from + pixels <= module._heif_image_get_width(image, INTERLEAVED) &&
        top + count <= module._heif_image_get_height(image, INTERLEAVED);
      if (!isInside) throw unreadable("A part of the image is smaller than its header says.");
      for (let y = 0; y < count; y += 1) {
        const start = plane + (top + y) * rowBytes + from * samples;
        const line = module.HEAPU8.subarray(start, start + pixels * samples);
        rows.set(line, (y * crop.width + to) * samples);
      }
    }
    return rows.subarray(0, count * crop.width * samples);
  }

  #readTiles(): Tiles {
    const tiling = this.#memory.allocate(128);
    this.#memory.call((error) =>
      this.#memory.module._heif_image_handle_get_image_tiling(error, this.#handle, 0, tiling),
    );
    const [columns = 0, rows = 0, width = 0, height = 0] = [4, 8, 12, 16].map((at) =>
      this.#memory.readUint32(tiling + at),
    );
    if (columns * width < this.crop.left + this.crop.width)
      throw unreadable("The parts of the image do not cover it.");
    if (rows * height < this.crop.top + this.crop.height)
      throw unreadable("The parts of the image do not cover it.");
    return { columns, rows, width, height };
  }

  #checkSize(): void {
    const { left, top, width, height } = this.crop;
    const ispeWidth = this.#memory.module._heif_image_handle_get_ispe_width(this.#handle);
    const ispeHeight = this.#memory.module._heif_image_handle_get_ispe_height(this.#handle);
    const isInside = left + width <= ispeWidth && top + height <= ispeHeight;
    if (width < 1 || height < 1 || !isInside) throw unreadable("The image has no pixels.");
    const pixels = ispeWidth * ispeHeight;
    if (pixels > MAX_PIXELS)
      throw tooManyPixels("The HEIC has over 64 megapixels.", MAX_PIXELS, pixels);
  }
}
