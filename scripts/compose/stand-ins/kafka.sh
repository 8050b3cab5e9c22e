#!/bin/bash
# Does what compose.yaml expects of the start script of the image apache/kafka: KAFKA_LOG_DIRS is the property log.dirs.
set -e
settings=/tmp/server.properties
while IFS='=' read -r name value; do
  name="${name#KAFKA_}"
  name="${name,,}"
  [[ "$name" == heap_opts ]] || echo "${name//_/.}=$value"
done < <(env | grep '^KAFKA_') >$settings
# shellcheck disable=SC2206
java=(/opt/java/bin/java $KAFKA_HEAP_OPTS -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true
  -Dorg.apache.logging.log4j.level=WARN -cp '/opt/kafka/*')
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted -t PostriderComposeCheckA -c $settings
exec "${java[@]}" kafka.Kafka $settings
