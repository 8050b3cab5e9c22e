import type { PlatformId } from "@postrider/client";
import type { StatusJson } from "@postrider/rest/dashboard/status";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { Card, Note } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Meter } from "../../kit/meter.tsx";
import { Page } from "../../kit/page.tsx";
import { PLATFORMS, PlatformTile } from "../../kit/platform-tile.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Table } from "../../kit/table.tsx";
import { AccountWho } from "../../posts/account-who.tsx";
import { useWords } from "../../words/use-words.ts";
import { Holds, nameOf } from "./holds.tsx";
import { Anew, MonthCard, numberText, RequestCard } from "./quota-cards.tsx";
import { statusApi } from "./status-api.ts";
import { statusWords } from "./status-words.ts";
import css from "./status.module.css";

type Daily = StatusJson["quota"]["dailyLimits"][number];

export function StatusScreen() {
  const words = useWords(statusWords);
  const { data, error, refetch } = useQuery(statusApi.status());
  return (
    <Page title={words.title}>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton />}
      {data && <Contents status={data} />}
    </Page>
  );
}

function Contents({ status }: { readonly status: StatusJson }) {
  const words = useWords(statusWords);
  const { pauses, heldPlatforms, heldAccounts, quota } = status;
  const isHeld = pauses.length + heldPlatforms.length + heldAccounts.length > 0;
  return (
    <>
      {isHeld ? (
        <div className="stack-s">
          <Holds status={status} />
        </div>
      ) : (
        <Note tone="ok" icon={CircleCheck} role="status">
          {words.allFine}
        </Note>
      )}
      <div className={css.grid}>
        <MonthCard monthly={quota.monthly} />
        <RequestCard />
      </div>
      <div className={css.grid}>
        <DailyCard limits={quota.dailyLimits} />
        <PlatformCard status={status} />
      </div>
    </>
  );
}

function DailyCard({ limits }: { readonly limits: readonly Daily[] }) {
  const words = useWords(statusWords);
  const resetsAt = limits[0]?.resetsAt ?? null;
  return (
    <Card
      title={words.today}
      actions={resetsAt !== null && <Anew at={resetsAt} />}
      footer={limits.length > 0 && words.forecast}
    >
      {limits.length === 0 ? (
        <p className="hint pad">{words.noDaily}</p>
      ) : (
        <Table label={words.today} className={css.daily}>
          <thead>
            <tr>
              <th scope="col">{words.account}</th>
              <th scope="col" className="not-s">
                <span className="sr">{words.usedReserved}</span>
              </th>
              <th scope="col" className="r">
                {words.usedReserved}
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map((limit) => (
              <DailyRow key={`${limit.accountId} ${limit.scope}`} daily={limit} />
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function DailyRow({ daily }: { readonly daily: Daily }) {
  const words = useWords(statusWords);
  const { used, reserved, limit, remaining, scope } = daily;
  const platform = daily.platform as PlatformId;
  const notes = [nameOf(platform), words.scopes[scope], remaining <= 0 && words.full];
  const label = words.monthLabel(numberText(used), numberText(reserved), numberText(limit));
  return (
    <tr>
      <td>
        <AccountWho
          id={daily.accountId}
          username={daily.accountId}
          platform={platform}
          below={notes.filter(Boolean).join(", ")}
        />
      </td>
      <td className={classNames(css.bar, "not-s")}>
        <Meter label={label} {...{ used, reserved, limit }} />
      </td>
      <td className="r">
        <b>{numberText(used)}</b>{" "}
        <span className="muted">
          {reserved > 0 && `+ ${numberText(reserved)} `}
          {words.of(numberText(limit))}
        </span>
      </td>
    </tr>
  );
}

function PlatformCard({ status }: { readonly status: StatusJson }) {
  const words = useWords(statusWords);
  return (
    <Card title={words.platforms}>
      <ul className={css.platforms}>
        {(Object.keys(PLATFORMS) as PlatformId[]).map((platform) => (
          <li key={platform}>
            <PlatformTile platform={platform} />
            <span>{nameOf(platform)}</span>
            <span className="push">
              <PlatformState status={status} platform={platform} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface PlatformStateProps {
  readonly status: StatusJson;
  readonly platform: PlatformId;
}

function PlatformState({ status, platform }: PlatformStateProps) {
  const words = useWords(statusWords);
  const isPaused = status.pauses.some(({ kind, key }) => kind === "platform" && key === platform);
  if (isPaused) return <StatusLabel status="paused">{words.pausedState}</StatusLabel>;
  const held = status.heldPlatforms.find((one) => one.platform === platform);
  if (held === undefined) return <StatusLabel status="active">{words.works}</StatusLabel>;
  return (
    <StatusLabel status="unknown">
      {held.reason === "no_answer" ? words.slowState : words.limitState}
    </StatusLabel>
  );
}
