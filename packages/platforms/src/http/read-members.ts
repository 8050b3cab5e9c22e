export type AnswerBytes = AsyncIterable<Uint8Array>;

interface MemberList {
  readonly object: string;
  readonly list: string;
}

export interface MemberLimits {
  /** The members after them are left out. */
  readonly maxBytes: number;
  /** A larger member is left out. */
  readonly maxMemberBytes: number;
  readonly maxMembers: number;
}

export interface ReadAnswer {
  readonly text: string;
  readonly isComplete: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const COMMA = 0x2c;
/** Depth of the members of the list: inside of the answer, of its object and of the list. */
const MEMBER_DEPTH = 3;
/** Number of bytes before a bracket that contain the key to which its value belongs. */
const KEY_BYTES = 64;

/**
 * Hands over each member of the list in `{ "<object>": { "<list>": [ … ] } }`, so that memory is
 * needed for one member at a time: strangers decide how many there are and how large they are. A
 * list that exceeds a limit is not an error.
 */
export async function readMembers(
  body: AnswerBytes,
  {
    onMember,
    ...options
  }: MemberList & MemberLimits & { readonly onMember: (member: unknown) => void },
): Promise<ReadAnswer> {
  const scanner = new MemberScanner(options, onMember);
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > options.maxBytes || !scanner.read(Buffer.from(chunk))) return scanner.end(false);
  }
  return scanner.end(true);
}

function lastBytes(before: Buffer, bytes: Buffer): Buffer {
  if (bytes.length >= KEY_BYTES) return bytes.subarray(-KEY_BYTES);
  return Buffer.concat([before, bytes]).subarray(-KEY_BYTES);
}

class MemberScanner {
  readonly #limits: MemberList & MemberLimits;
  readonly #onMember: (member: unknown) => void;
  readonly #answer: Buffer[] = [];
  #member: Buffer[] = [];
  #tail: Buffer = Buffer.alloc(0);
  #answerBytes = 0;
  #memberBytes = 0;
  #members = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isInObject = false;
  #isInList = false;
  #hasLeftOut = false;

  constructor(limits: MemberList & MemberLimits, onMember: (member: unknown) => void) {
    this.#limits = limits;
    this.#onMember = onMember;
  }

  read(chunk: Buffer): boolean {
    let start = 0;
    for (let at = 0; at < chunk.length;) {
      if (this.#isInText) {
        at = this.#skipText(chunk, at);
        continue;
      }
      const byte = chunk[at] ?? 0;
      if (byte === QUOTE) this.#isInText = true;
      else if (this.#isBoundary(byte)) {
        start = this.#cut(chunk, { start, at, byte });
        if (this.#members >= this.#limits.maxMembers) return false;
      }
      at += 1;
    }
    this.#keep(chunk.subarray(start));
    return this.#answerBytes <= this.#limits.maxMemberBytes;
  }

  end(isRead: boolean): ReadAnswer {
    const text = Buffer.concat(this.#answer).toString("utf8");
    const isComplete = isRead && !this.#hasLeftOut;
    return {
      text: this.#isInList ? `${text}]}}` : text,
      isComplete: isComplete && !this.#isInList,
    };
  }

  #skipText(chunk: Buffer, from: number): number {
    let start = this.#isEscaped ? from + 1 : from;
    for (;;) {
      const quote = chunk.indexOf(QUOTE, start);
      const end = quote === -1 ? chunk.length : quote;
      let backslashes = 0;
      while (end - 1 - backslashes >= start && chunk[end - 1 - backslashes] === BACKSLASH)
        backslashes += 1;
      this.#isEscaped = backslashes % 2 === 1;
      if (quote === -1) return end;
      start = quote + 1;
      if (this.#isEscaped) continue;
      this.#isInText = false;
      return start;
    }
  }

  #isBoundary(byte: number): boolean {
    const isSeparator = byte === COMMA && this.#isInList && this.#depth === MEMBER_DEPTH;
    return isSeparator || OPENING.has(byte) || CLOSING.has(byte);
  }

  #cut(chunk: Buffer, { start, at, byte }: { start: number; at: number; byte: number }): number {
    if (OPENING.has(byte)) return this.#open(chunk, start, at);
    if (byte !== COMMA) this.#depth -= 1;
    const endsList = this.#isInList && this.#depth < MEMBER_DEPTH;
    if (!this.#isInList || (byte !== COMMA && !endsList)) return start;
    this.#keep(chunk.subarray(start, at));
    this.#endMember();
    if (!endsList) return at + 1;
    this.#isInList = false;
    this.#isInObject = false;
    return at;
  }

  #open(chunk: Buffer, start: number, at: number): number {
    this.#depth += 1;
    if (this.#isInList || this.#depth > MEMBER_DEPTH) return start;
    const isAfter = (key: string) => this.#endsWithKey(chunk.subarray(start, at), key);
    if (this.#depth === 2) this.#isInObject = isAfter(this.#limits.object);
    if (this.#depth !== MEMBER_DEPTH || !this.#isInObject || !isAfter(this.#limits.list))
      return start;
    this.#keep(chunk.subarray(start, at + 1));
    this.#isInList = true;
    return at + 1;
  }

  #endsWithKey(last: Buffer, key: string): boolean {
    const tail = lastBytes(this.#tail, last).toString("latin1").trimEnd();
    return tail.endsWith(":") && tail.slice(0, -1).trimEnd().endsWith(`"${key}"`);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (!this.#isInList) {
      this.#answerBytes += bytes.length;
      this.#answer.push(bytes);
      this.#tail = lastBytes(this.#tail, bytes);
      return;
    }
    this.#memberBytes += bytes.length;
    if (this.#memberBytes <= this.#limits.maxMemberBytes) this.#member.push(bytes);
    else this.#member = [];
  }

  #endMember(): void {
    const isTooLarge = this.#memberBytes > this.#limits.maxMemberBytes;
    const text = Buffer.concat(this.#member).toString("utf8");
    this.#member = [];
    this.#memberBytes = 0;
    if (isTooLarge) this.#hasLeftOut = true;
    if (isTooLarge || text.trim() === "") return;
    this.#members += 1;
    this.#onMember(JSON.parse(text));
  }
}
