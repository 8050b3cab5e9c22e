import type { Account, Platform, PlatformRules } from "@postrider/client";
import { createContext, useContext } from "react";
import { type Attached, countText, textLimitOf } from "./count-text.ts";
import { type Draft, type DraftMedia, type OwnPart, textFor } from "./draft.ts";
import type { Fault, Place } from "./faults.ts";

/** An account with the rules of its platform. */
export interface Writer extends Account {
  readonly rules: PlatformRules;
  /** Whether this installation can publish there. */
  readonly isAvailable: boolean;
}

/** What all parts of the composer share. */
export interface Composition {
  readonly draft: Draft;
  readonly change: (next: (draft: Draft) => Draft) => void;
  readonly writers: readonly Writer[];
  readonly chosen: readonly Writer[];
  readonly faults: readonly Fault[];
  /** Whether `faults` are of the draft as it is now: then the server knows better than a count. */
  readonly isChecked: boolean;
  /** "all", or the id of the account whose part is shown. */
  readonly tab: string;
  readonly openTab: (tab: string) => void;
  /** Leads to the place where something is changed, and puts the focus there. */
  readonly go: (place: Place, accountId?: string) => void;
}

export const CompositionContext = createContext<Composition | undefined>(undefined);

export function useComposition(): Composition {
  const composition = useContext(CompositionContext);
  if (composition === undefined) throw new Error("there is no composer around this component");
  return composition;
}

/**
 * Accounts whose platform is not known any more cannot be written for. Those that cannot publish
 * now come last.
 */
export function toWriters(
  accounts: readonly Account[],
  platforms: readonly Platform[],
): readonly Writer[] {
  const byId = new Map(platforms.map((platform) => [platform.id, platform]));
  const writers = accounts.flatMap((account) => {
    const platform = byId.get(account.platform);
    if (platform === undefined) return [];
    return [{ ...account, rules: platform.rules, isAvailable: platform.available }];
  });
  return writers.toSorted((one, other) => Number(canPublish(other)) - Number(canPublish(one)));
}

export function canPublish({ status, isAvailable }: Writer): boolean {
  return status !== "reconnect_required" && isAvailable;
}

function attachedOf(media: readonly DraftMedia[]): Attached {
  if (media.length === 0) return "none";
  return media.some(({ kind }) => kind === "video") ? "video" : "image";
}

export interface Length {
  readonly count: number;
  readonly max: number;
  readonly unit: PlatformRules["text"]["unit"];
}

/** How long the text for an account is, as its platform counts. */
export function lengthFor(draft: Draft, { id, rules }: Writer): Length {
  const { unit } = rules.text;
  return {
    count: countText(textFor(draft, id), unit),
    max: textLimitOf(rules, attachedOf(draft.media)),
    unit,
  };
}

/** The length to show: the server's where it has counted, because it knows what a link is there. */
export function shownLength(
  { draft, faults, isChecked }: Pick<Composition, "draft" | "faults" | "isChecked">,
  writer: Writer,
): Length {
  const length = lengthFor(draft, writer);
  const fault = faults.find(
    ({ code, accountId, limit }) =>
      code === "content_too_long" && accountId === writer.id && limit === length.max,
  );
  return isChecked ? { ...length, count: fault?.actual ?? length.count } : length;
}

export type PartName = "text" | "title" | "privacy" | "tags";

/** What can be set for one account alone, besides its text. */
export function fieldsOf({ rules }: Writer): readonly PartName[] {
  return [
    ...(rules.title.rule === "none" ? [] : (["title"] as const)),
    ...(rules.privacy.length > 1 ? (["privacy"] as const) : []),
    ...(rules.tags.mode === "field" ? (["tags"] as const) : []),
  ];
}

/** What is set for one account, for the name of its tab. */
function partsSet(part: OwnPart | undefined): readonly PartName[] {
  if (part === undefined) return [];
  const { content, title = "", privacy, tags = [] } = part;
  return [
    ...(content === undefined ? [] : (["text"] as const)),
    ...(title === "" ? [] : (["title"] as const)),
    ...(privacy === undefined ? [] : (["privacy"] as const)),
    ...(tags.length === 0 ? [] : (["tags"] as const)),
  ];
}

/** Whether a post there cannot do without a field of its own. */
function needsOwnPart({ rules }: Writer): boolean {
  return rules.title.rule === "required" || rules.privacyNoDefault === true;
}

/** What the tab of an account is about: what is set there, and what it cannot do without. */
export function tabParts(writer: Writer, part: OwnPart | undefined): readonly PartName[] {
  const set = partsSet(part);
  const fields = needsOwnPart(writer) ? fieldsOf(writer).slice(0, 2) : [];
  return (["text", "title", "privacy", "tags"] as const).filter(
    (name) => set.includes(name) || fields.includes(name),
  );
}

/** Accounts with a tab: those with a part of their own, those that need one, and the open one. */
export function tabsOf(
  chosen: readonly Writer[],
  own: Readonly<Record<string, OwnPart>>,
  open: string,
): readonly Writer[] {
  return chosen.filter(
    (writer) => needsOwnPart(writer) || own[writer.id] !== undefined || writer.id === open,
  );
}
