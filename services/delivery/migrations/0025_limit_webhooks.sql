-- Why a webhook delivery failed without an attempt: `backlog_full`; null for all other deliveries.
alter table webhook_deliveries add column error text;

-- Finds the webhook subscriptions of a workspace that may have waiting deliveries, also revoked ones.
create index webhook_lanes_by_workspace on webhook_lanes (workspace_id);
