import { canPublish, type Length, type Writer } from "./composition.ts";
import type { Fault, Place } from "./faults.ts";

/** What the second line of an account's tile says, and in which color. */
export interface TileState {
  readonly tone: "plain" | "near" | "over";
  readonly says:
    | "unchosen"
    | "reconnect"
    | "unavailable"
    | "counter"
    | "video"
    | "picture"
    | "media"
    | "no-title"
    | "title"
    | "privacy"
    | "tags"
    | "text"
    | "fix";
}

interface TileFacts {
  readonly writer: Writer;
  readonly isChosen: boolean;
  readonly faults: readonly Fault[];
  readonly length: Length;
  /** Whether `faults` are of the text as it is now: then the server knows better than the count. */
  readonly isChecked: boolean;
}

const NEAR = 0.97;
const PLACES = new Set<Place>(["title", "privacy", "tags", "text"]);

export function tileState(facts: TileFacts): TileState {
  const { writer, isChosen, faults } = facts;
  if (writer.status === "reconnect_required") return { tone: "near", says: "reconnect" };
  if (!canPublish(writer)) return { tone: "near", says: "unavailable" };
  if (!isChosen) return { tone: "plain", says: "unchosen" };
  if (isOver(facts)) return { tone: "over", says: "counter" };
  const [fault] = faults;
  if (fault !== undefined) return { tone: "near", says: saysOf(fault) };
  const { count, max } = facts.length;
  return { tone: count >= max * NEAR ? "near" : "plain", says: "counter" };
}

function isOver({ faults, length, isChecked }: TileFacts): boolean {
  if (isChecked) return faults.some(({ code }) => code === "content_too_long");
  return length.count > length.max;
}

function saysOf({ code, place }: Fault): TileState["says"] {
  if (code === "needs_video") return "video";
  if (code === "media_required") return "picture";
  if (code === "title_required") return "no-title";
  if (place === "media") return "media";
  return PLACES.has(place) ? (place as TileState["says"]) : "fix";
}

/** "310/300"; limits that no text comes near are left out. */
export function counterText({ count, max }: Length, language: string): string {
  const numbers = new Intl.NumberFormat(language);
  return max > 10_000 ? numbers.format(count) : `${numbers.format(count)}/${numbers.format(max)}`;
}
