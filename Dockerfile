# docker build --tag postern .
# docker run --publish 8080:8080 --stop-timeout 40 --volume postern:/var/lib/postern \
#     --env POSTERN_SERVER_PUBLIC_URL=https://auth.example.org \
#     --env POSTERN_MAIL_DOMAINS=example.org --env JWT_ISSUER=https://auth.example.org postern

FROM swift:6.3-bookworm AS build
RUN apt-get update --quiet=2 && apt-get install --quiet=2 --yes --no-install-recommends make
WORKDIR /postern
COPY Makefile ./
COPY .ci .ci
# The C libraries are a layer of their own: a change of source does not fetch them again.
RUN make packages
COPY . .
RUN make release
RUN make install DESTDIR=/installed

# Swift is linked statically; what is left are the C libraries and the roots of trust for hash URLs.
FROM debian:bookworm-slim
RUN apt-get update --quiet=2 \
    && apt-get install --quiet=2 --yes --no-install-recommends \
        ca-certificates libargon2-1 libcurl4 libgmime-3.0-0 libpq5 libqrencode4 libscrypt0 libsqlite3-0 \
        libssl3 libstdc++6 \
    && apt-get clean && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 8080 --home-dir /var/lib/postern --create-home postern
COPY --from=build /installed/usr/local /usr/local

# `make image` gives them; a build without them says so.
ARG VERSION=unknown REVISION=unknown CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="Postern" \
    org.opencontainers.image.description="Mail-auth server for agents, programs and people, and for mail stores" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.created="$CREATED"
# Environment, not flags: so `docker exec … postern account list` meets the same database.
ENV POSTERN_PROFILE=production \
    POSTERN_SERVER_HOST=0.0.0.0 \
    POSTERN_STORAGE_DIRECTORY=/var/lib/postern
USER postern
VOLUME /var/lib/postern
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["postern", "healthcheck"]
ENTRYPOINT ["postern"]
CMD ["serve"]
