import type { PostDetail } from "@postrider/client";
import { LineChart } from "../../charts/line-chart.tsx";
import type { Series } from "../../charts/series.ts";
import { Card } from "../../kit/card.tsx";
import { Time } from "../../kit/time.tsx";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { metricsWords } from "./metrics-words.ts";
import { WINDOW_HOURS, type Window } from "./readings.ts";
import type { Choice } from "./use-choice.ts";

/** Hours at which the lower edge is labelled. */
const TICK_HOURS: Readonly<Record<Window, readonly number[]>> = {
  h48: [6, 12, 24, 36, 48],
  d7: [24, 72, 120, 168],
  d90: [168, 720, 1440, 2160],
};

interface ChartCardProps {
  readonly post: PostDetail;
  readonly series: readonly Series[];
  readonly choice: Choice;
}

export function sentAtOf({ scheduledAt, startedAt, createdAt }: PostDetail): string {
  return startedAt ?? scheduledAt ?? createdAt;
}

export function ChartCard({ post, series, choice: { measure, window } }: ChartCardProps) {
  const words = useWords(metricsWords);
  const hours = WINDOW_HOURS[window];
  const sentAt = sentAtOf(post);
  const nowX = (useNow().epochMilliseconds - Date.parse(sentAt)) / 3_600_000;
  const inHours = window === "h48";
  const ticks = TICK_HOURS[window].map((x) => ({
    x,
    label: inHours ? words.hours(x) : words.days(x / 24),
  }));
  return (
    <Card
      title={words.since[measure]}
      aside={<Time at={sentAt} show="day" />}
      actions={<span className="xs muted">{words.eachDot}</span>}
    >
      {series.length === 0 ? (
        <p className="hint pad">{words.noReading}</p>
      ) : (
        <LineChart
          label={words.chartLabel(words.since[measure], series.length)}
          series={series}
          xMax={hours}
          xTicks={[{ x: 0, label: words.sent }, ...ticks]}
          now={nowX < hours ? { x: nowX, label: words.now } : undefined}
        />
      )}
    </Card>
  );
}
