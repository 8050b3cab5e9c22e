const NONE = -1;
const ROOT = 0;
const CHARACTERS_PER_STEP = 20_000;

/**
 * One random number for each value of each byte of an edge: two of its character, three of its
 * state. With a hash that a workspace can compute, it could choose keywords whose edges all begin
 * at neighbouring places of the table, and each search would then read a large part of it.
 */
const RANDOM = crypto.getRandomValues(new Uint32Array(5 * 256));

function randomOf(byte: number, place: number): number {
  return RANDOM[place * 256 + (byte & 255)] ?? 0;
}

/**
 * Finds all occurrences of many words in a text in one pass, as Aho and Corasick described it in
 * 1975: each state stands for the longest beginning of a word with which the text read so far ends.
 *
 * The states are typed arrays with one hash table of all edges, about 30 bytes per character of the
 * words.
 */
export class WordAutomaton {
  /** One state for each different beginning of a word. */
  size = 1;
  readonly #parents: Int32Array;
  readonly #units: Uint16Array;
  /** The state of the longest other beginning of a word with which the text of a state ends. */
  readonly #fallbacks: Int32Array;
  /** The word that a state completes. */
  readonly #words: Int32Array;
  /** The next state, along the fallbacks, that completes a word. */
  readonly #shorter: Int32Array;
  /** Hash table of the edges with open addressing: the state to which each edge leads. */
  readonly #edges: Int32Array;

  private constructor(maxSize: number) {
    this.#parents = new Int32Array(maxSize);
    this.#units = new Uint16Array(maxSize);
    this.#fallbacks = new Int32Array(maxSize);
    this.#words = new Int32Array(maxSize).fill(NONE);
    this.#shorter = new Int32Array(maxSize).fill(NONE);
    this.#edges = new Int32Array(2 ** Math.ceil(Math.log2(2 * maxSize)));
  }

  /** The words must differ and not be empty. It yields so that other work can run. */
  static *build(words: readonly string[]): Generator<undefined, WordAutomaton> {
    const automaton = new WordAutomaton(words.reduce((sum, { length }) => sum + length, 1));
    // All words grow by one character at a time, because the fallback of a new state leads to a
    // state of a shorter text.
    let growing = words.map((word, id) => ({ word, id, state: ROOT }));
    let steps = 0;
    for (let length = 1; growing.length > 0; length++) {
      for (const each of growing) {
        each.state = automaton.#addEdge(each.state, each.word.charCodeAt(length - 1));
        if (each.word.length === length) automaton.#words[each.state] = each.id;
        steps += 1;
        if (steps % CHARACTERS_PER_STEP === 0) yield;
      }
      growing = growing.filter(({ word }) => word.length > length);
    }
    return automaton;
  }

  /** Calls `visit` where words end, with the state from which `wordsOf` lists them. */
  visitEnds(text: string, visit: (state: number, end: number) => void): void {
    let state = ROOT;
    for (let index = 0; index < text.length; index++) {
      state = this.#next(state, text.charCodeAt(index));
      if (this.#words[state] !== NONE || this.#shorter[state] !== NONE) visit(state, index + 1);
    }
  }

  /** Longest first. */
  *wordsOf(state: number): Generator<number> {
    for (let at = state; at !== NONE; at = this.#shorter[at] ?? NONE) {
      const word = this.#words[at] ?? NONE;
      if (word !== NONE) yield word;
    }
  }

  #next(from: number, unit: number): number {
    for (let state = from; ; state = this.#fallbacks[state] ?? ROOT) {
      const next = this.#edges[this.#slotOf(state, unit)] ?? ROOT;
      if (next !== ROOT || state === ROOT) return next;
    }
  }

  #addEdge(state: number, unit: number): number {
    const slot = this.#slotOf(state, unit);
    const known = this.#edges[slot] ?? ROOT;
    if (known !== ROOT) return known;
    const fallback = state === ROOT ? ROOT : this.#next(this.#fallbacks[state] ?? ROOT, unit);
    const added = this.size;
    this.size += 1;
    this.#edges[slot] = added;
    this.#parents[added] = state;
    this.#units[added] = unit;
    this.#fallbacks[added] = fallback;
    const completes = this.#words[fallback] !== NONE;
    this.#shorter[added] = completes ? fallback : (this.#shorter[fallback] ?? NONE);
    return added;
  }

  /** No edge leads to the root, so a 0 at this place means: no such edge. */
  #slotOf(state: number, unit: number): number {
    const mask = this.#edges.length - 1;
    const hash =
      randomOf(unit, 0) ^
      randomOf(unit >> 8, 1) ^
      randomOf(state, 2) ^
      randomOf(state >> 8, 3) ^
      randomOf(state >> 16, 4);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const child = this.#edges[slot] ?? ROOT;
      const isFree = child === ROOT;
      if (isFree || (this.#parents[child] === state && this.#units[child] === unit)) return slot;
    }
  }
}
