import type { PostTarget } from "@postrider/client";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { useWords } from "../../words/use-words.ts";
import { detailWords, type detailEn } from "./detail-words.ts";
import type { TargetWords } from "./target-props.ts";

interface WaitWordsProps {
  readonly target: PostTarget;
  readonly words: TargetWords | undefined;
  readonly attemptCount: number;
}

type Waits = NonNullable<TargetWords["waitsFor"]>;

/** What a publication waits for that is under way: the promise where the fear is. */
export function WaitWords({ target, words, attemptCount }: WaitWordsProps) {
  const labels = useWords(detailWords);
  const waits = words?.waitsFor;
  if (!waits || (waits.kind === "next_attempt" && attemptCount === 0)) return null;
  const text = textOf(waits, PLATFORMS[target.platform].name, labels);
  return text === undefined ? null : (
    <p className="sm">
      {waits.kind === "outcome" ? <b>{text}</b> : text}{" "}
      {waits.reason !== null && labels.reason(waits.reason)}
    </p>
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
