import type { PostSummary, QueueSlotRule } from "@postrider/client";
import { Globe } from "lucide-react";
import { api } from "../../api/api.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Time } from "../../kit/time.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useAct } from "../../kit/use-act.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf } from "../../time/format-time.ts";
import { placeInZone } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { queueWords } from "./queue-words.ts";
import css from "./queue.module.css";
import { hasEnded, meaningOf } from "./rule-text.ts";

interface RuleListProps {
  readonly rules: readonly QueueSlotRule[];
  /** What is planned in the next two weeks, by its time. */
  readonly posts: ReadonlyMap<number, PostSummary>;
  /** Undefined for a session that may only read. */
  readonly onEdit: ((rule: QueueSlotRule) => void) | undefined;
}

const TINTS = ["c1", "c3", "c2", "c4", "c5"] as const;

export function RuleList({ rules, posts, onEdit }: RuleListProps) {
  const words = useWords(queueWords);
  return (
    <Card title={words.rules} aside={words.count(rules.length)}>
      <ul>
        {rules.map((rule, index) => (
          <Rule
            key={rule.id}
            rule={rule}
            posts={posts}
            tint={TINTS[index % TINTS.length]}
            onEdit={onEdit}
          />
        ))}
      </ul>
    </Card>
  );
}

interface RuleProps {
  readonly rule: QueueSlotRule;
  readonly posts: RuleListProps["posts"];
  readonly tint: (typeof TINTS)[number] | undefined;
  readonly onEdit: RuleListProps["onEdit"];
}

function Rule({ rule, posts, tint, onEdit }: RuleProps) {
  const words = useWords(queueWords);
  const { language } = useSettings();
  const { name, status, timezone } = rule;
  const isActive = status === "active";
  return (
    <li className={css.rule}>
      <div className="row">
        <span className={classNames(css.swatch, tint && css[tint])} aria-hidden="true" />
        <b className="clip" title={name}>
          {name}
        </b>
        <span className="push">
          <StatusLabel status={isActive ? "active" : "paused"} />
        </span>
      </div>
      <p>
        {meaningOf(rule, language, words)} <InReadersZone rule={rule} />
      </p>
      <p className="xs muted">
        <NextFree rule={rule} posts={posts} />
      </p>
      <div className="row">
        <span className="tag">
          <Globe className="i i-s" aria-hidden="true" />
          {placeOf(timezone, language)}
        </span>
        {onEdit && <RuleActions rule={rule} onEdit={onEdit} />}
      </div>
    </li>
  );
}

interface RuleActionsProps {
  readonly rule: QueueSlotRule;
  readonly onEdit: (rule: QueueSlotRule) => void;
}

function RuleActions({ rule, onEdit }: RuleActionsProps) {
  const words = useWords(queueWords);
  const { id, name, status } = rule;
  const isActive = status === "active";
  const { run, isBusy, error } = useAct(async (next: "active" | "paused") => {
    await api.updateQueueSlotRule(id, { status: next });
    showToast(next === "active" ? words.resumedNow(name) : words.pausedNow(name));
  });
  return (
    <span className="row push">
      {error !== undefined && <ErrorNotice error={error} />}
      <Button
        kind="ghost"
        small
        busy={isBusy}
        aria-label={isActive ? words.pauseRule(name) : words.resumeRule(name)}
        onClick={() => run(isActive ? "paused" : "active")}
      >
        {isActive ? words.pause : words.resume}
      </Button>
      <Button kind="ghost" small aria-label={words.editRule(name)} onClick={() => onEdit(rule)}>
        {words.edit}
      </Button>
    </span>
  );
}

/** What the times of a rule mean for a reader in another zone, by today's clocks. */
function InReadersZone({ rule: { timezone, times } }: { readonly rule: QueueSlotRule }) {
  const words = useWords(queueWords);
  const { zone, language } = useSettings();
  const today = useNow().toZonedDateTimeISO(timezone).toPlainDate();
  if (timezone === zone) return null;
  const shown = times.toSorted().map((time) => {
    const reading = today.toPlainDateTime(Temporal.PlainTime.from(time));
    const at = placeInZone(reading, timezone).at.withTimeZone(zone);
    const days = Temporal.PlainDate.compare(at.toPlainDate(), today);
    const note = { [-1]: words.dayBefore, 0: undefined, 1: words.dayAfter }[days];
    return note === undefined ? clockOf(at, language) : `${clockOf(at, language)} (${note})`;
  });
  return (
    <span className="muted">
      {placeOf(timezone, language)} = {shown.join(", ")} {placeOf(zone, language)}
    </span>
  );
}

/** A post that was given this time by hand leaves the slot to the queue. */
function NextFree({ rule, posts }: Pick<RuleProps, "rule" | "posts">) {
  const words = useWords(queueWords);
  const now = useNow();
  if (hasEnded(rule, now)) return words.ended;
  if (rule.status !== "active") return words.paused;
  const [next] = rule.nextSlots;
  if (next === undefined) return words.noFree;
  return (
    <>
      {words.nextFree} <Time at={next} />
      {posts.has(Date.parse(next)) && words.alsoByHand}
    </>
  );
}
