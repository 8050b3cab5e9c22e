import type { HeifModule } from "./heif-module.ts";

/** Error code, detailed error code, and the address of a message. */
const ERROR_BYTES = 12;

/** The memory of libheif. Nothing is freed, because its process ends after one file. */
export class HeifMemory {
  readonly module: HeifModule;
  readonly #error: number;

  constructor(module: HeifModule) {
    this.module = module;
    this.#error = this.allocate(ERROR_BYTES);
  }

  allocate(bytes: number): number {
    const address = this.module._malloc(bytes);
    if (address === 0) throw new Error("the decoder has no memory left");
    return address;
  }

  copyIn(bytes: Uint8Array): number {
    const address = this.allocate(bytes.length);
    this.module.HEAPU8.set(bytes, address);
    return address;
  }

  copyOut(address: number, bytes: number): Uint8Array {
    return this.module.HEAPU8.slice(address, address + bytes);
  }

  readUint32(address: number): number {
    return this.#view(address, 4).getUint32(0, true);
  }

  writeUint64(address: number, value: bigint): void {
    this.#view(address, 8).setBigUint64(0, value, true);
  }

  /**
   * Calls a function that returns a `heif_error`.
   *
   * @throws An error with its message, if its code is not 0.
   */
  call(work: (error: number) => void): void {
    work(this.#error);
    if (this.readUint32(this.#error) === 0) return;
    throw new Error(this.#readText(this.readUint32(this.#error + 8)));
  }

  /**
   * Calls a function that writes an address.
   *
   * @throws Like `call`.
   */
  callForAddress(work: (error: number, target: number) => void): number {
    const target = this.allocate(4);
    this.call((error) => work(error, target));
    return this.readUint32(target);
  }

  #readText(address: number): string {
    const { HEAPU8 } = this.module;
    const end = HEAPU8.indexOf(0, address);
    return Buffer.from(HEAPU8.subarray(address, Math.min(end, address + 200))).toString("latin1");
  }

  #view(address: number, bytes: number): DataView {
    const { HEAPU8 } = this.module;
    return new DataView(HEAPU8.buffer, HEAPU8.byteOffset + address, bytes);
  }
}
