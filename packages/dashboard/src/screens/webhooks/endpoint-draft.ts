import {
  type Body,
  type ErrorDetail,
  type EventFilter,
  PostriderError,
  type Webhook,
  type WebhookSigning,
} from "@postrider/client";
import type { Filters } from "./event-filters.ts";
import type { webhooksEn } from "./words-en.ts";

const MAX_RATE = 100;

/** What the drawer of an endpoint holds; the rate as it is typed. */
export interface EndpointDraft {
  readonly url: string;
  readonly description: string;
  readonly isEverything: boolean;
  readonly chosen: Filters;
  readonly signing: WebhookSigning;
  readonly rate: string;
}

const NEW: EndpointDraft = {
  url: "",
  description: "",
  isEverything: false,
  chosen: [],
  signing: "hmac-sha256",
  rate: "",
};

export function draftOf(webhook: Webhook | undefined): EndpointDraft {
  if (webhook === undefined) return NEW;
  const { url, description, signing, maxPerSecond } = webhook;
  const events = webhook.events as Filters;
  return {
    url,
    description,
    isEverything: events.includes("*"),
    chosen: events.filter((filter) => filter !== "*"),
    signing,
    rate: maxPerSecond === null ? "" : String(maxPerSecond),
  };
}

export type EndpointFaults = Readonly<
  Record<"url" | "description" | "events" | "rate", string | undefined>
>;

type Words = typeof webhooksEn;

export function faultsOf(draft: EndpointDraft, words: Words): EndpointFaults {
  const { url, isEverything, chosen, rate } = draft;
  const isUrl = /^https?:\/\/\S+$/iu.test(url.trim()) && URL.parse(url.trim()) !== null;
  const isRate = rate.trim() === "" || (/^\d+$/u.test(rate.trim()) && isInRange(Number(rate)));
  return {
    url: isUrl ? undefined : words.urlFault,
    description: undefined,
    events: isEverything || chosen.length > 0 ? undefined : words.eventsFault,
    rate: isRate ? undefined : words.rateFault,
  };
}

const isInRange = (rate: number) => rate >= 1 && rate <= MAX_RATE;

/** Which field a detail of a refusal is about, by the first name of its path. */
const FIELDS = new Map<string, keyof EndpointFaults>([
  ["url", "url"],
  ["description", "description"],
  ["events", "events"],
  ["maxPerSecond", "rate"],
]);

/** The faults that the server found; undefined where one of them belongs to no field. */
export function refusalOf(error: unknown, words: Words): Partial<EndpointFaults> | undefined {
  if (!(error instanceof PostriderError) || error.details.length === 0) return undefined;
  const faults = error.details.map((detail) => [fieldOf(detail), textOf(detail, words)] as const);
  if (faults.some(([field]) => field === undefined)) return undefined;
  return Object.fromEntries(faults) as Partial<EndpointFaults>;
}

const fieldOf = ({ path }: ErrorDetail) => FIELDS.get(path?.split("/")[1] ?? "");

const textOf = ({ code, message }: ErrorDetail, words: Words) =>
  code === "webhook_not_public" ? words.urlRefused : message;

/** The body of a creation; a change leaves out how it is signed, which is fixed. */
export function bodyOf(draft: EndpointDraft): Omit<Body<"createWebhook">, "signing"> {
  const { url, description, isEverything, chosen, rate } = draft;
  const events: readonly EventFilter[] = isEverything ? ["*"] : chosen;
  return {
    url: url.trim(),
    description: description.trim(),
    events,
    maxPerSecond: rate.trim() === "" ? null : Number(rate),
  };
}
