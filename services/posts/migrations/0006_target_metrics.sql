alter table targets
  -- The newest counters of the published post that the delivery service reported, as proto JSON of TargetMetrics; null
  -- until the first report.
  add column metrics jsonb,
  -- When the platform was asked for these counters, by the clock of the delivery service's database.
  add column metrics_refreshed_at timestamptz(3);
