import type { Webhook } from "@postrider/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { useWords } from "../../words/use-words.ts";
import { DeliveryDetail } from "./delivery-detail.tsx";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { DeliveryTable } from "./delivery-table.tsx";
import { EndpointActions } from "./endpoint-actions.tsx";
import { EndpointNote } from "./endpoint-note.tsx";
import { urlText } from "./url-text.ts";
import { useChosenDelivery } from "./use-chosen-delivery.ts";
import { type DeliveryFilter, webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

const EVERY: DeliveryFilter = { status: "", eventType: "" };

interface EndpointCardProps {
  readonly endpoint: Webhook;
  readonly onSecret: (secret: string | undefined) => void;
}

/** One endpoint with its deliveries, and the chosen one of them beside or below. */
export function EndpointCard({ endpoint, onSecret }: EndpointCardProps) {
  const { id, url, description } = endpoint;
  const [filter, setFilter] = useState(EVERY);
  const query = useInfiniteQuery(webhooksApi.deliveries(id, filter));
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const chosen = useChosenDelivery(id, deliveries);
  return (
    <div className={classNames(css.endpointLayout, chosen && css.withDetail)}>
      <Card
        title={
          <code title={url} className={css.url}>
            {urlText(url)}
          </code>
        }
        aside={description === "" ? undefined : description}
        actions={<EndpointActions endpoint={endpoint} onSecret={onSecret} />}
        footer={<Foot query={query} />}
      >
        <EndpointNote endpoint={endpoint} />
        <DeliveryFilters
          endpoint={endpoint}
          filter={filter}
          deliveries={deliveries}
          onChange={setFilter}
        />
        <Reading query={query} />
        {query.isSuccess && deliveries.length === 0 && (
          <NoDeliveries filter={filter} onShowAll={() => setFilter(EVERY)} />
        )}
        <DeliveryTable endpointId={id} deliveries={deliveries} chosenId={chosen?.id} />
      </Card>
      {chosen && <DeliveryDetail key={chosen.id} endpoint={endpoint} delivery={chosen} />}
    </div>
  );
}

interface ReadingProps {
  readonly query: {
    readonly error: unknown;
    readonly isPending: boolean;
    readonly refetch: () => Promise<unknown>;
  };
}

function Reading({ query: { error, isPending, refetch } }: ReadingProps) {
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  return isPending ? <Skeleton /> : null;
}

interface NoDeliveriesProps {
  readonly filter: DeliveryFilter;
  readonly onShowAll: () => void;
}

function NoDeliveries({ filter, onShowAll }: NoDeliveriesProps) {
  const words = useWords(webhooksWords);
  if (filter.status === "" && filter.eventType === "")
    return <EmptyState title={words.noDeliveries} />;
  return (
    <EmptyState
      title={words.noMatch}
      action={<Button onClick={onShowAll}>{words.showAll}</Button>}
    />
  );
}

interface FootProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}

function Foot({ query }: FootProps) {
  const words = useWords(webhooksWords);
  return (
    <>
      <span>{words.kept}</span>
      {query.hasNextPage && (
        <Button
          small
          className="push"
          busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {words.showMore}
        </Button>
      )}
    </>
  );
}
