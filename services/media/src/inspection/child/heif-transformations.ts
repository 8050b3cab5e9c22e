import { unreadable } from "#src/domain/media-rejected.ts";
import type { HeifMemory } from "./heif-memory.ts";

/** Maps `(x, y)` to `(a x + b y, c x + d y)`; y grows downwards. */
type Turn = readonly [a: number, b: number, c: number, d: number];

const MIRROR_HORIZONTALLY: Turn = [-1, 0, 0, 1];
const MIRROR_VERTICALLY: Turn = [1, 0, 0, -1];
const ROTATE_LEFT: Turn = [0, 1, -1, 0];

/**
 * What makes a stored picture upright, for the EXIF orientations 1 to 8 (CIPA DC-008, section
 * 4.6.4).
 */
const ORIENTATIONS: readonly Turn[] = [
  [1, 0, 0, 1],
  [-1, 0, 0, 1],
  [-1, 0, 0, -1],
  [1, 0, 0, -1],
  [0, 1, 1, 0],
  [0, -1, 1, 0],
  [0, -1, -1, 0],
  [0, 1, -1, 0],
];

/** The EXIF orientation of a picture that these turns, in this order, make upright. */
function toOrientation(turns: readonly Turn[]): number {
  const whole = turns.reduce<Turn>(
    ([a, b, c, d], [e, f, g, h]) => [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d],
    [1, 0, 0, 1],
  );
  return 1 + ORIENTATIONS.findIndex((one) => one.every((value, index) => value === whole[index]));
}

const CROP = fourCharacters("clap");
const ROTATE = fourCharacters("irot");
const MIRROR = fourCharacters("imir");
const MAX_TRANSFORMATIONS = 8;

export interface Crop {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Item {
  readonly memory: HeifMemory;
  readonly context: number;
  readonly id: number;
}

/** As libheif represents the name of a box. */
export function fourCharacters(text: string): number {
  return Buffer.from(text, "latin1").readUInt32BE();
}

/**
 * Reads the shown part and the EXIF orientation. Transformations apply in the order of the file.
 * Most files crop before they rotate (ISO/IEC 23000-22, section 7.3.6.7); a crop that follows a
 * rotation is turned back into one of the stored picture.
 *
 * @throws MediaRejected
 */
export function readTransformations(
  memory: HeifMemory,
  context: number,
  handle: number,
): { readonly crop: Crop; readonly orientation: number } {
  const { module } = memory;
  const item = { memory, context, id: module._heif_image_handle_get_item_id(handle) };
  const width = module._heif_image_handle_get_ispe_width(handle);
  const height = module._heif_image_handle_get_ispe_height(handle);
  let crop: Crop = { left: 0, top: 0, width, height };
  const turns: Turn[] = [];
  for (const property of listTransformations(item)) {
    const type = module._heif_item_get_property_type(context, item.id, property);
    if (type === MIRROR) turns.push(readMirror(item, property));
    else if (type === ROTATE) turns.push(...readRotation(item, property));
    else if (type === CROP)
      crop = cropTurned(crop, turns, (size) => readBorders(item, property, size));
    else throw unreadable("The image is transformed in a way that is not supported.");
  }
  return { crop, orientation: toOrientation(turns) };
}

function listTransformations({ memory, context, id }: Item): readonly number[] {
  const list = memory.allocate(4 * MAX_TRANSFORMATIONS);
  const count = memory.module._heif_item_get_transformation_properties(
    context,
    id,
    list,
    MAX_TRANSFORMATIONS,
  );
  return Array.from({ length: count }, (_, index) => memory.readUint32(list + 4 * index));
}

function readMirror({ memory, context, id }: Item, property: number): Turn {
  const direction = memory.module._heif_item_get_property_transform_mirror(context, id, property);
  return direction === 0 ? MIRROR_VERTICALLY : MIRROR_HORIZONTALLY;
}

function readRotation({ memory, context, id }: Item, property: number): readonly Turn[] {
  const { module } = memory;
  const degrees = module._heif_item_get_property_transform_rotation_ccw(context, id, property);
  return Array.from({ length: degrees / 90 }, () => ROTATE_LEFT);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Borders {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function cropTurned(crop: Crop, turns: readonly Turn[], readFor: (size: Size) => Borders): Crop {
  const isOnItsSide = turns.filter((turn) => turn === ROTATE_LEFT).length % 2 === 1;
  const { width, height } = crop;
  let borders = readFor(isOnItsSide ? { width: height, height: width } : { width, height });
  for (const turn of turns.toReversed()) borders = turnBack(borders, turn);
  const { left, top, right, bottom } = borders;
  return {
    left: crop.left + left,
    top: crop.top + top,
    width: width - left - right,
    height: height - top - bottom,
  };
}

function turnBack({ left, top, right, bottom }: Borders, turn: Turn): Borders {
  if (turn === MIRROR_HORIZONTALLY) return { left: right, top, right: left, bottom };
  if (turn === MIRROR_VERTICALLY) return { left, top: bottom, right, bottom: top };
  return { left: bottom, top: left, right: top, bottom: right };
}

function readBorders({ memory, context, id }: Item, property: number, size: Size): Borders {
  const borders = memory.allocate(16);
  memory.module._heif_item_get_property_transform_crop_borders(
    context,
    id,
    property,
    size.width,
    size.height,
    borders,
    borders + 4,
    borders + 8,
    borders + 12,
  );
  const [left = 0, top = 0, right = 0, bottom = 0] = [0, 4, 8, 12].map((at) =>
    memory.readUint32(borders + at),
  );
  return { left, top, right, bottom };
}
