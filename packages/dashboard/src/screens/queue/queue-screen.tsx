import type { PostSummary, QueueSlotRule } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { ClockArrowUp, Plus } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { useIsNarrow } from "../../kit/use-media.ts";
import { type ClockShift, nextShift } from "../../queue/clock-shift.ts";
import { queueApi } from "../../queue/queue-api.ts";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { clockOf, dayOf } from "../../time/format-time.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { postsOf } from "../calendar/calendar-api.ts";
import { ZoneButton } from "../calendar/calendar-bar.tsx";
import { queueWords } from "./queue-words.ts";
import css from "./queue.module.css";
import { RuleDrawer } from "./rule-drawer.tsx";
import { RuleList } from "./rule-list.tsx";
import { SlotTable, Upcoming } from "./slot-table.tsx";
import { postsByTime, shownSlots, slotWeeks } from "./slot-weeks.ts";

type Editing = QueueSlotRule | "new";

export function QueueScreen() {
  const words = useWords(queueWords);
  const canWrite = useCan()("posts:write");
  const { data, error, refetch } = useQuery(queueApi.rules());
  const [editing, setEditing] = useState<Editing>();
  const create = canWrite && (
    <Button kind="primary" icon={Plus} onClick={() => setEditing("new")}>
      {words.newRule}
    </Button>
  );
  const hasRules = data !== undefined && data.rules.length > 0;
  return (
    <Page title={words.title} actions={hasRules && create}>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <Rules
        rules={data?.rules}
        isFailed={error !== null}
        create={create}
        onEdit={canWrite ? setEditing : undefined}
      />
      {editing && <Editor editing={editing} onClose={() => setEditing(undefined)} />}
    </Page>
  );
}

interface RulesProps {
  readonly rules: readonly QueueSlotRule[] | undefined;
  readonly isFailed: boolean;
  readonly create: ReactNode;
  readonly onEdit: ((rule: QueueSlotRule) => void) | undefined;
}

function Rules({ rules, isFailed, create, onEdit }: RulesProps) {
  const { first, posts } = usePosts();
  if (rules === undefined) return isFailed ? null : <Skeleton />;
  if (rules.length === 0) return <NoRules create={create} />;
  return (
    <div className={css.layout}>
      <TwoWeeks rules={rules} first={first} posts={posts} canWrite={onEdit !== undefined} />
      <RuleList rules={rules} posts={posts} onEdit={onEdit} />
    </div>
  );
}

interface EditorProps {
  readonly editing: Editing;
  readonly onClose: () => void;
}

function Editor({ editing, onClose }: EditorProps) {
  return <RuleDrawer rule={editing === "new" ? undefined : editing} onClose={onClose} />;
}

function NoRules({ create }: { readonly create: ReactNode }) {
  const words = useWords(queueWords);
  return (
    <Card>
      <EmptyState title={words.empty} action={create}>
        {words.emptyHint}
      </EmptyState>
    </Card>
  );
}

/** What is planned in the two weeks from today on. */
function usePosts() {
  const { zone } = useSettings();
  const today = useNow().toZonedDateTimeISO(zone).toPlainDate().toString();
  const first = useMemo(() => Temporal.PlainDate.from(today), [today]);
  const { data } = useQuery(postsOf({ first, days: 14 }));
  const posts = useMemo(() => postsByTime(data ?? []), [data]);
  return { first, posts };
}

interface TwoWeeksProps {
  readonly rules: readonly QueueSlotRule[];
  readonly first: Temporal.PlainDate;
  readonly posts: ReadonlyMap<number, PostSummary>;
  readonly canWrite: boolean;
}

function TwoWeeks({ rules, first, posts, canWrite }: TwoWeeksProps) {
  const words = useWords(queueWords);
  const { zone } = useSettings();
  const isNarrow = useIsNarrow();
  const shift = useShift(rules);
  const slots = useMemo(() => shownSlots(rules, posts, first, zone), [rules, posts, first, zone]);
  return (
    <Card
      title={words.next}
      aside={canWrite && words.hint}
      actions={<ZoneButton />}
      footer={shift && <Shift {...shift} />}
    >
      {slots.length === 0 && <p className="hint pad">{words.noSlots}</p>}
      {isNarrow ? (
        <Upcoming slots={slots} canWrite={canWrite} />
      ) : (
        <div className={css.scroll}>
          {slots.length > 0 &&
            slotWeeks(slots, first).map((week) => (
              <SlotTable key={String(week.days[0])} week={week} canWrite={canWrite} />
            ))}
        </div>
      )}
    </Card>
  );
}

interface RuleShift {
  readonly rule: QueueSlotRule;
  readonly shift: ClockShift;
}

/** The next change of clocks that moves a rule for this reader. */
function useShift(rules: readonly QueueSlotRule[]): RuleShift | undefined {
  const { zone } = useSettings();
  const now = useNow();
  const shifts = rules.flatMap((rule) => {
    const shift = rule.status === "active" ? nextShift(rule, zone, now) : undefined;
    return shift === undefined ? [] : [{ rule, shift }];
  });
  const ms = ({ shift }: RuleShift) => shift.at.epochMilliseconds;
  return shifts.toSorted((one, other) => ms(one) - ms(other))[0];
}

function Shift({ rule, shift }: RuleShift) {
  const words = useWords(queueWords);
  const { zone, language } = useSettings();
  const now = useNow().toZonedDateTimeISO(shift.zone);
  return (
    <span className={css.shift}>
      <ClockArrowUp className="i" aria-hidden="true" />
      <span>
        {words.shift({
          changing: placeOf(shift.zone, language),
          day: dayOf(shift.at, now, language),
          rule: rule.name,
          time: rule.times.toSorted()[0] ?? "",
          rulePlace: placeOf(rule.timezone, language),
          before: clockOf(shift.before, language),
          after: clockOf(shift.after, language),
          place: placeOf(zone, language),
        })}
      </span>
    </span>
  );
}
