import { readFileSync } from "node:fs";

/** The resident memory of a process by its origin, in MB. */
export interface ProcessMemory {
  readonly resident: number;
  /** The heap of the C library's main arena, which grows with `brk`. */
  readonly mainArena: number;
  /** The heaps of the C library's other arenas, which threads use. */
  readonly threadArenas: number;
  /** Anonymous memory outside of the heaps of the C library: the heap of V8, large buffers, stacks. */
  readonly otherAnonymous: number;
  /** Memory that holds parts of files: of the program and its libraries. */
  readonly files: number;
}

/** Size and alignment of the address range that glibc reserves for each heap of a thread arena. */
const ARENA_BYTES = 64 * 1024 * 1024;
const HEADING = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ *(.*)$/;

interface Mapping {
  readonly start: number;
  readonly end: number;
  readonly rights: string;
  readonly name: string;
  residentKb: number;
}

/** Returns the mapping that a line of `smaps` begins; undefined if the line belongs to the mapping before it. */
function toMapping(line: string): Mapping | undefined {
  const [isHeading, start = "", end = "", rights = "", name = ""] = HEADING.exec(line) ?? [];
  if (isHeading === undefined) return undefined;
  const range = { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) };
  return { ...range, rights, name, residentKb: 0 };
}

function readMappings(pid: number): readonly Mapping[] {
  const mappings: Mapping[] = [];
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const mapping = toMapping(line);
    if (mapping !== undefined) mappings.push(mapping);
    const last = mappings.at(-1);
    const [, residentKb] = /^Rss:\s+(\d+) kB/.exec(line) ?? [];
    if (last !== undefined && residentKb !== undefined) last.residentKb = Number(residentKb);
  }
  return mappings;
}

/**
 * Whether a mapping is the used part of a heap of a thread arena: it begins at an aligned address, and the reserved rest of
 * the address range follows it.
 */
function isThreadArena({ start, end, rights }: Mapping, next: Mapping | undefined): boolean {
  if (start % ARENA_BYTES !== 0 || rights !== "rw-p") return false;
  if (end - start === ARENA_BYTES) return true;
  return next?.start === end && next.rights === "---p" && next.end === start + ARENA_BYTES;
}

/** Reads the resident memory of a process from `/proc/<pid>/smaps` (Linux). */
export function readProcessMemory(pid: number): ProcessMemory {
  const kb = { mainArena: 0, threadArenas: 0, otherAnonymous: 0, files: 0 };
  const mappings = readMappings(pid);
  mappings.forEach((mapping, index) => {
    const { name, residentKb } = mapping;
    if (name === "[heap]") kb.mainArena += residentKb;
    else if (name.startsWith("/")) kb.files += residentKb;
    else if (isThreadArena(mapping, mappings[index + 1])) kb.threadArenas += residentKb;
    else kb.otherAnonymous += residentKb;
  });
  const toMb = (value: number): number => (value * 1024) / 1e6;
  return {
    resident: toMb(kb.mainArena + kb.threadArenas + kb.otherAnonymous + kb.files),
    mainArena: toMb(kb.mainArena),
    threadArenas: toMb(kb.threadArenas),
    otherAnonymous: toMb(kb.otherAnonymous),
    files: toMb(kb.files),
  };
}
