/** A file made to break whoever reads it. */
export interface HostileFile {
  readonly name: string;
  readonly declared: string;
  readonly bytes: Uint8Array;
  /** How it may end. `handled`: it is taken, and what platforms get is harmless. */
  readonly ends: "rejected" | "handled" | "either";
}

/** Says for several files what they are declared to be. */
export function hostile(
  declared: string,
  ends: HostileFile["ends"],
  files: Readonly<Record<string, Uint8Array>>,
): HostileFile[] {
  return Object.entries(files).map(([name, bytes]) => ({ name, declared, bytes, ends }));
}
