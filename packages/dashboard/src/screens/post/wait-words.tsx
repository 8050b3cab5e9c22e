import type { PostTarget } from "@postrider/client";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { distanceOf } from "../../time/format-time.ts";
import { useNearTime } from "../../time/near-time.ts";
import { useSeconds } from "../../time/use-seconds.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords, type detailEn } from "./detail-words.ts";
import type { TargetWords } from "./target-props.ts";

interface WaitWordsProps {
  readonly target: PostTarget;
  readonly words: TargetWords | undefined;
  readonly attemptCount: number;
}

type Waits = NonNullable<TargetWords["waitsFor"]>;
type SentenceOfTime = (time: string, left: string) => string;

/** What a publication waits for that is under way: the promise where the fear is. */
export function WaitWords({ target, words, attemptCount }: WaitWordsProps) {
  const labels = useWords(detailWords);
  const waits = words?.waitsFor;
  if (!waits || !isToldOf(waits, target, attemptCount)) return null;
  const text = textOf(waits, PLATFORMS[target.platform].name, labels);
  // The attempts show when the next one is.
  const isShownBelow = waits.kind === "next_attempt" && attemptCount > 0;
  return text === undefined ? null : (
    <p className="sm">
      {waits.kind === "outcome" ? <b>{text}</b> : text} {!isShownBelow && <Until waits={waits} />}
      {waits.reason !== null && labels.reason(waits.reason)}
    </p>
  );
}

/** Not of one that has failed: its button says when a retry helps. */
function isToldOf({ kind }: Waits, { status, error }: PostTarget, attemptCount: number): boolean {
  return status !== "failed" && (kind !== "next_attempt" || attemptCount > 0 || error !== null);
}

/** When it goes on, with the time that is left; nothing where that is not known. */
function Until({ waits: { kind, until } }: { readonly waits: Waits }) {
  const labels = useWords(detailWords);
  const { inTime, distance } = useWords(kitWords);
  const nearTime = useNearTime();
  const ms = Date.parse(until ?? "") - useSeconds() * 1000;
  const sentences: Readonly<Partial<Record<string, SentenceOfTime>>> = labels.waitsUntil;
  if (until === null || ms <= 0) return null;
  return (
    <span className="num">
      {sentences[kind]?.(nearTime(until), inTime(distanceOf(ms, distance)))}{" "}
    </span>
  );
}

function textOf({ kind, pause }: Waits, platform: string, labels: typeof detailEn) {
  const pauses: Readonly<Record<string, string>> = labels.waitsPause;
  const texts: Readonly<Record<Waits["kind"], string | undefined>> = {
    outcome: labels.lost(platform),
    pause: pauses[pause ?? ""] ?? labels.waitsPause.deployment,
    held_platform: labels.waitsHeld(platform),
    platform_limit: labels.waitsLimit(platform),
    held_account: labels.waitsAccount(platform),
    next_attempt: labels.byItself,
    schedule: undefined,
  };
  return texts[kind];
}
