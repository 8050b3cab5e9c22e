import type { AutomationRule, RunStatus } from "@postrider/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Select } from "../../kit/select.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Table } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { useWords } from "../../words/use-words.ts";
import { automationsApi, type ListedRun } from "./automations-api.ts";
import { automationsWords } from "./automations-words.ts";
import css from "./automations.module.css";

const STATUSES: readonly RunStatus[] = ["prepared", "sent", "skipped", "failed"];

/** What became of the comments that matched a rule, newest first. */
export function Runs({ rule }: { readonly rule: AutomationRule }) {
  const words = useWords(automationsWords);
  const [status, setStatus] = useState<RunStatus>();
  const query = useInfiniteQuery(automationsApi.runs({ ruleId: rule.id, status }));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const runs = data?.pages.flatMap((page) => page.runs);
  return (
    <Card
      title={words.runs}
      aside={words.runsHint}
      actions={<ResultSelect status={status} onChange={setStatus} />}
      footer={
        hasNextPage ? (
          <Button small busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.showMore}
          </Button>
        ) : undefined
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {runs === undefined && error === null && <Skeleton rows={3} />}
      {runs && (
        <RunTable runs={runs} none={status === undefined ? words.noRuns : words.noRunsHere} />
      )}
    </Card>
  );
}

interface ResultSelectProps {
  readonly status: RunStatus | undefined;
  readonly onChange: (status: RunStatus | undefined) => void;
}

function ResultSelect({ status, onChange }: ResultSelectProps) {
  const words = useWords(automationsWords);
  return (
    <Select
      label={words.result}
      value={status ?? ""}
      isSet={status !== undefined}
      onChange={(value) => onChange(STATUSES.find((known) => known === value))}
      options={[
        { value: "", label: words.allResults },
        ...STATUSES.map((value) => ({ value, label: words.results[value] })),
      ]}
    />
  );
}

interface RunTableProps {
  readonly runs: readonly ListedRun[];
  /** In place of an empty table. */
  readonly none: string;
}

function RunTable({ runs, none }: RunTableProps) {
  const words = useWords(automationsWords);
  if (runs.length === 0) return <p className="hint pad">{none}</p>;
  return (
    <Table label={words.runs}>
      <thead>
        <tr>
          <th scope="col">{words.comment}</th>
          <th scope="col">{words.result}</th>
          <th scope="col" className="not-s">
            {words.why}
          </th>
          <th scope="col" className="r not-s">
            {words.time}
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </tbody>
    </Table>
  );
}

function RunRow({ run }: { readonly run: ListedRun }) {
  const words = useWords(automationsWords);
  const { author, text, status, reason, createdAt } = run;
  const isWaiting = status === "prepared" && reason === null;
  const why = isWaiting ? words.waiting : reason && words.reasons[reason];
  return (
    <tr>
      <td>
        <b className="sm">{author.username ?? words.unnamed}</b>
        {text !== null && (
          <p className={classNames(css.comment, "xs quiet")} lang={langOf(text)}>
            {text}
          </p>
        )}
        <p className="only-s xs muted">
          <span className={css.whyAndWhen}>
            {why && <span>{why}</span>}
            <Time at={createdAt} />
          </span>
        </p>
      </td>
      <td>
        <StatusLabel status={status}>{words.results[status]}</StatusLabel>
      </td>
      <td className="quiet not-s">{why}</td>
      <td className="r not-s">
        <Time at={createdAt} />
      </td>
    </tr>
  );
}
