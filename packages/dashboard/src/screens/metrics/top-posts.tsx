import type { PlatformId, PostStatus, TargetErrorCode, TargetStatus } from "@postrider/client";
import type { PostWordsJson } from "@postrider/rest/dashboard/cures";
import { useState } from "react";
import { Link } from "wouter";
import { Sparkline } from "../../charts/sparkline.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Select } from "../../kit/select.tsx";
import { Table } from "../../kit/table.tsx";
import { TargetStrip } from "../../kit/target-strip.tsx";
import { Time } from "../../kit/time.tsx";
import { langOf } from "../../posts/lang-of.ts";
import { tileStatusOf } from "../../posts/tile-status.ts";
import { useSettings } from "../../settings/settings.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import type { SumsOfPost } from "./metrics-api.ts";
import { metricsWords } from "./metrics-words.ts";
import css from "./metrics.module.css";
import { Count } from "./number-card.tsx";
import { valueOf } from "./readings.ts";

const ORDERS = ["seen", "likes", "comments", "publishedAt"] as const;
type Order = (typeof ORDERS)[number];

/** One for each six of the first 48 hours. */
const LINE_POINTS = 8;

interface TopPostsProps {
  readonly posts: readonly SumsOfPost[];
  /** The posts themselves, as far as they have been read. */
  readonly details: ReadonlyMap<string, PostWordsJson>;
  readonly isMore: boolean;
}

function sorted(posts: readonly SumsOfPost[], order: Order): readonly SumsOfPost[] {
  if (order === "publishedAt")
    return posts.toSorted((one, other) => (one.publishedAt < other.publishedAt ? 1 : -1));
  return posts.toSorted((one, other) => (other[order] ?? -1) - (one[order] ?? -1));
}

/** The posts that were seen most; a click shows the lines of one. */
export function TopPosts({ posts, details, isMore }: TopPostsProps) {
  const words = useWords(metricsWords);
  const [order, setOrder] = useState<Order>("seen");
  if (posts.length === 0) return null;
  return (
    <Card
      title={words.posts}
      actions={
        <Select
          label={words.sort}
          value={order}
          options={ORDERS.map((value) => ({ value, label: words.orders[value] }))}
          onChange={(value) => setOrder(value as Order)}
        />
      }
      footer={isMore ? words.more : undefined}
    >
      <Table label={words.posts}>
        <TopHead />
        <tbody>
          {sorted(posts, order).map((sums) => (
            <TopPost key={sums.postId} sums={sums} post={details.get(sums.postId)} />
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

function TopHead() {
  const words = useWords(metricsWords);
  const { zone, language } = useSettings();
  return (
    <thead>
      <tr>
        <th scope="col">{words.post}</th>
        <th scope="col" className="not-m">
          {words.accounts}
        </th>
        <th scope="col" className="r">
          {words.columns.seen}
        </th>
        <th scope="col" className={css.optional}>
          {words.hours(48)}
        </th>
        <th scope="col" className={classNames("r", css.optional)}>
          {words.columns.likes}
        </th>
        <th scope="col" className={classNames("r", css.optional)}>
          {words.columns.comments}
        </th>
        <th scope="col" className={classNames("r", css.optional)}>
          {words.sentIn(placeOf(zone, language))}
        </th>
      </tr>
    </thead>
  );
}

interface TopPostProps {
  readonly sums: SumsOfPost;
  readonly post: PostWordsJson | undefined;
}

function TopPost({ sums, post }: TopPostProps) {
  const words = useWords(metricsWords);
  const text = post?.text ?? "…";
  return (
    <tr>
      <td>
        <Link
          href={`/metrics?post=${sums.postId}`}
          className={classNames(css.plain, "clamp2")}
          lang={langOf(text)}
        >
          {text}
        </Link>
      </td>
      <td className="not-m">
        {post === undefined ? words.publications(sums.publications) : <Strip post={post} />}
      </td>
      <Count value={valueOf(sums, "seen") === null ? null : sums.seen} isStrong />
      <td className={css.optional}>
        <Sparkline values={sums.line} count={LINE_POINTS} />
      </td>
      <Count value={sums.likes} isOptional />
      <Count value={sums.comments} isOptional />
      <td className={classNames("r quiet", css.optional)}>
        <Time at={sums.publishedAt} show="day" isPlaced={false} />
      </td>
    </tr>
  );
}

function Strip({ post }: { readonly post: PostWordsJson }) {
  const targets = post.targets.map(({ accountId, platform, username, status, code }) => ({
    accountId,
    platform: platform as PlatformId,
    name: username,
    status: tileStatusOf(post.status as PostStatus, {
      status: status as TargetStatus,
      errorCode: code as TargetErrorCode | null,
    }),
  }));
  return <TargetStrip targets={targets} />;
}
