import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/**
 * The used part of libheif's C interface. Numbers are addresses in the WebAssembly memory. A
 * function that returns a structure in C takes its address as the first argument.
 */
export interface HeifModule {
  /** A new array after each call that enlarges the memory. */
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _heif_context_alloc(): number;
  _heif_context_get_security_limits(context: number): number;
  _heif_context_read_from_memory(
    error: number,
    context: number,
    file: number,
    bytes: number,
    options: number,
  ): void;
  _heif_context_get_primary_image_handle(error: number, context: number, handle: number): void;
  _heif_image_handle_get_item_id(handle: number): number;
  _heif_image_handle_get_width(handle: number): number;
  _heif_image_handle_get_height(handle: number): number;
  _heif_image_handle_get_ispe_width(handle: number): number;
  _heif_image_handle_get_ispe_height(handle: number): number;
  _heif_image_handle_has_alpha_channel(handle: number): number;
  _heif_image_handle_get_color_profile_type(handle: number): number;
  _heif_image_handle_get_raw_color_profile_size(handle: number): number;
  _heif_image_handle_get_raw_color_profile(error: number, handle: number, target: number): void;
  _heif_image_handle_get_nclx_color_profile(error: number, handle: number, target: number): void;
  _heif_item_get_transformation_properties(
    context: number,
    item: number,
    target: number,
    count: number,
  ): number;
  _heif_item_get_property_type(context: number, item: number, property: number): number;
  _heif_item_get_property_transform_mirror(context: number, item: number, property: number): number;
  _heif_item_get_property_transform_rotation_ccw(
    context: number,
    item: number,
    property: number,
  ): number;
  _heif_item_get_property_transform_crop_borders(
    context: number,
    item: number,
    property: number,
    width: number,
    height: number,
    left: number,
    top: number,
    right: number,
    bottom: number,
  ): void;
  _heif_image_handle_get_image_tiling(
    error: number,
    handle: number,
    applyTransformations: number,
    target: number,
  ): void;
  _heif_decoding_options_alloc(): number;
  _heif_decode_image(
    error: number,
    handle: number,
    image: number,
    colourSpace: number,
    chroma: number,
    options: number,
  ): void;
  _heif_image_handle_decode_image_tile(
    error: number,
    handle: number,
    image: number,
    colourSpace: number,
    chroma: number,
    options: number,
    column: number,
    row: number,
  ): void;
  _heif_image_get_width(image: number, channel: number): number;
  _heif_image_get_height(image: number, channel: number): number;
  _heif_image_get_plane_readonly(image: number, channel: number, stride: number): number;
  _heif_image_release(image: number): void;
}

/**
 * WebAssembly, so that a hostile file that takes libheif over reaches only the memory of the
 * module.
 */
export function loadHeifModule(): HeifModule {
  const require = createRequire(import.meta.url);
  const create = require("libheif-js/libheif-wasm/libheif.js") as (options: {
    readonly wasmBinary: Uint8Array;
  }) => HeifModule;
  const path = require.resolve("libheif-js/libheif-wasm/libheif.wasm");
  return create({ wasmBinary: readFileSync(path) });
}
