import type { Account, PlatformId, PostDetail, PostTarget } from "@postrider/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { Link } from "wouter";
import { api } from "../../api/api.ts";
import { SeriesKey } from "../../charts/line-chart.tsx";
import type { Series } from "../../charts/series.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS, PlatformTile } from "../../kit/platform-tile.tsx";
import { Table } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useAct } from "../../kit/use-act.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useAccountName, useAccounts } from "../../posts/use-accounts.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import type { TargetHistory } from "./metrics-api.ts";
import { metricsWords } from "./metrics-words.ts";
import css from "./metrics.module.css";
import { valueOf } from "./readings.ts";

interface NumberCardProps {
  readonly post: PostDetail;
  readonly targets: readonly PostTarget[];
  readonly history: readonly TargetHistory[];
  readonly series: readonly Series[];
}

/** What the chart shows, as numbers; and why an account has none. */
export function NumberCard({ post, targets, history, series }: NumberCardProps) {
  const words = useWords(metricsWords);
  const { columns } = words;
  const looks = new Map(series.map(({ id, look }) => [id, look]));
  return (
    <Card
      title={words.numbers}
      actions={<Refresh postId={post.id} />}
      footer={<ReadTimes targets={targets} history={history} />}
    >
      <Table label={words.numbers} className={css.numbers}>
        <thead>
          <tr>
            <th scope="col">{words.account}</th>
            <th scope="col" className="r">
              {columns.seen}
            </th>
            <th scope="col" className={classNames("r", css.optional)}>
              {columns.reach}
            </th>
            <th scope="col" className="r">
              {columns.likes}
            </th>
            {(["comments", "shares", "saves"] as const).map((name) => (
              <th key={name} scope="col" className={classNames("r", css.optional)}>
                {columns[name]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <NumberRow key={target.id} target={target} look={looks.get(target.id)} />
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

interface NumberRowProps {
  readonly target: PostTarget;
  readonly look: Series["look"] | undefined;
}

function NumberRow({ target, look }: NumberRowProps) {
  const account = useAccounts().get(target.accountId);
  const name = useAccountName(target.accountId, target.username);
  const { metrics, platform } = target;
  return (
    <tr className={metrics === null ? css.why : undefined}>
      <td>
        <span className="row">
          <SeriesKey look={look} />
          <PlatformTile platform={platform} />
          <span className="clip" title={name}>
            {name}
          </span>
        </span>
      </td>
      {metrics === null ? (
        <td colSpan={6} className="quiet">
          <WhyNone target={target} account={account} />
        </td>
      ) : (
        <>
          <Count value={valueOf(metrics, "seen")} />
          <Count value={metrics.reach} isOptional />
          <Count value={metrics.likes} />
          <Count value={metrics.comments} isOptional />
          <Count value={metrics.shares} isOptional />
          <Count value={metrics.saves} isOptional />
        </>
      )}
    </tr>
  );
}

interface CountProps {
  readonly value: number | null;
  /** Left out on a phone. */
  readonly isOptional?: boolean;
  readonly isStrong?: boolean;
}

export function Count({ value, isOptional = false, isStrong = false }: CountProps) {
  const text = value === null ? "–" : value.toLocaleString("en");
  return (
    <td className={classNames("r", value === null && "none", isOptional && css.optional)}>
      {isStrong && value !== null ? <b>{text}</b> : text}
    </td>
  );
}

interface WhyNoneProps {
  readonly target: PostTarget;
  readonly account: Account | undefined;
}

function WhyNone({ target, account }: WhyNoneProps) {
  const words = useWords(metricsWords);
  const platforms = useQuery(postsApi.platforms()).data?.platforms;
  const { platform, status } = target;
  const known = platforms?.find(({ id }: { readonly id: PlatformId }) => id === platform);
  if (known?.rules.metrics.supported === false) return words.noMetrics(PLATFORMS[platform].name);
  if (account?.status === "reconnect_required")
    return (
      <>
        {words.ended}
        <Link href="/accounts">{words.reconnect}</Link>
        {words.readAtOnce}
      </>
    );
  return status === "published" ? words.noReading : words.notPublished;
}

function Refresh({ postId }: { readonly postId: string }) {
  const words = useWords(metricsWords);
  const client = useQueryClient();
  const canWrite = useCan()("posts:write");
  const { run, isBusy, error } = useAct(async () => {
    const { refresh } = await api.refreshPostMetrics(postId);
    await client.invalidateQueries({ queryKey: ["post", postId] });
    showToast(words.refreshed(refresh.ready, refresh.eligible));
  });
  if (!canWrite) return null;
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} />}
      <Button small icon={RefreshCw} busy={isBusy} onClick={run}>
        {words.refresh}
      </Button>
    </>
  );
}

interface ReadTimesProps {
  readonly targets: readonly PostTarget[];
  readonly history: readonly TargetHistory[];
}

/** When the numbers were read last, and when the first of them is read next. */
function ReadTimes({ targets, history }: ReadTimesProps) {
  const words = useWords(metricsWords);
  const read = targets.flatMap(({ metrics }) => metrics?.refreshedAt ?? []).toSorted();
  const next = history.flatMap(({ nextReadAt }) => nextReadAt ?? []).toSorted();
  const [last, first] = [read.at(-1), next[0]];
  return (
    <span>
      {last !== undefined && (
        <>
          {words.read} <Time at={last} />.{" "}
        </>
      )}
      {first !== undefined && (
        <>
          {words.next} <Time at={first} />.{" "}
        </>
      )}
      {words.meaning}
    </span>
  );
}
