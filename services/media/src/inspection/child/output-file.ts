import { writeSync } from "node:fs";
import { OUTPUT_FD } from "#src/inspection/inspection-protocol.ts";

/** The files of several renditions are appended to it. */
export class OutputFile {
  #end = 0;

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;)
      at += writeSync(OUTPUT_FD, bytes, at, bytes.length - at, this.#end + at);
    this.#end += bytes.length;
  }
}
