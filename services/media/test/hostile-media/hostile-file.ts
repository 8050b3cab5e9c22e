/** A media file that tries to break the inspection. */
export interface HostileFile {
  readonly name: string;
  readonly declared: string;
  readonly bytes: Uint8Array;
  /**
   * The expected result of the inspection of the hostile file. An accepted file must be delivered
   * without its hidden content.
   */
  readonly ends: "rejected" | "accepted" | "either";
}

/** Describes hostile media files that have the same declared type and the same expected result. */
export function hostile(
  declared: string,
  ends: HostileFile["ends"],
  files: Readonly<Record<string, Uint8Array>>,
): HostileFile[] {
  return Object.entries(files).map(([name, bytes]) => ({ name, declared, bytes, ends }));
}
