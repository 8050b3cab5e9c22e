-- Webhook events of workspaces with very many deliveries: inserting all of these would delay the events of other workspaces. The
-- job assign-events inserts the deliveries, and the workspaces take turns.
create table webhook_arrivals (
  event_id uuid primary key,
  workspace_id uuid not null,
  type text not null,
  occurred_at timestamptz not null,
  sequence bigint not null,
  source jsonb not null,
  cause jsonb not null,
  -- The webhook subscriptions that receive the event.
  subscription_ids uuid[] not null
);

create index webhook_arrivals_by_workspace on webhook_arrivals (workspace_id, event_id);
