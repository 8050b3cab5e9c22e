import type { Body, Query, WebhookDelivery } from "@postrider/client";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { queryClient } from "../../api/query-client.ts";

/** As many as a workspace can have, so that one page lists all of them. */
export const MAX_ENDPOINTS = 50;
const PAGE = 20;
/** A delivery that is not in the list is looked for among as many of the newest ones. */
const MAX_SEARCHED = 5 * PAGE;
/** Deliveries make no events: while one is on its way it is asked for often, otherwise rarely. */
const MOVING_MS = 2_000;
const RESTING_MS = 15_000;

export interface DeliveryFilter {
  readonly status: "" | "failed" | "pending";
  readonly eventType: string;
}

type DeliveryQuery = Query<"listWebhookDeliveries">;

const NEAR_MS = 60_000;

/** On its way now; not one that waits for hours, or for its endpoint to be resumed. */
function isMoving({ status, nextAttemptAt }: WebhookDelivery): boolean {
  if (status !== "pending") return status === "delivering";
  return nextAttemptAt === null || Math.abs(Date.parse(nextAttemptAt) - Date.now()) < NEAR_MS;
}

/** Whatever was tried, what the page shows may have changed. */
async function change<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } finally {
    await queryClient.invalidateQueries({ queryKey: ["delivery"] });
  }
}

export const webhooksApi = {
  endpoints: () =>
    queryOptions({
      queryKey: ["delivery", "list", "endpoints"],
      queryFn: ({ signal }) => api.listWebhooks({ limit: MAX_ENDPOINTS }, { signal }),
      refetchInterval: RESTING_MS,
    }),
  newest: (id: string) =>
    queryOptions({
      queryKey: ["delivery", "list", id, "newest"],
      queryFn: async ({ signal }) => {
        const { deliveries } = await api.listWebhookDeliveries(id, { limit: 1 }, { signal });
        return deliveries[0] ?? null;
      },
    }),
  deliveries: (id: string, { status, eventType }: DeliveryFilter) =>
    infiniteQueryOptions({
      queryKey: ["delivery", "list", id, { status, eventType }],
      queryFn: ({ pageParam, signal }) => {
        const given = { limit: PAGE, status, eventType, cursor: pageParam };
        const set = Object.entries(given).filter(([, value]) => value !== "");
        return api.listWebhookDeliveries(id, Object.fromEntries(set) as DeliveryQuery, { signal });
      },
      initialPageParam: "",
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.pages.some((page) => page.deliveries.some(isMoving)) === true
          ? MOVING_MS
          : RESTING_MS,
    }),
  /** One of the newest deliveries, or null. */
  find: (id: string, deliveryId: string) =>
    queryOptions({
      queryKey: ["delivery", "list", id, "find", deliveryId],
      queryFn: async ({ signal }) => {
        let left = MAX_SEARCHED;
        for await (const one of api.iterateWebhookDeliveries(id, { limit: PAGE }, { signal })) {
          if (one.id === deliveryId) return one;
          left -= 1;
          if (left === 0) break;
        }
        return null;
      },
      refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? MOVING_MS : false),
    }),
  create: (body: Body<"createWebhook">) => change(api.createWebhook(body)),
  /** Says `onDone` before the lists are read again: the reads of two changes end together. */
  update: (id: string, body: Body<"updateWebhook">, onDone?: () => void) =>
    change(
      api.updateWebhook(id, body).then((endpoint) => {
        onDone?.();
        return endpoint;
      }),
    ),
  revoke: (id: string) => change(api.revokeWebhook(id)),
  /** One after the other: the first refusal, such as too many that wait, ends it. */
  sendAgain: async (id: string, deliveryIds: readonly string[]) =>
    change(
      (async () => {
        for (const deliveryId of deliveryIds) await api.retryWebhookDelivery(id, deliveryId);
      })(),
    ),
};
