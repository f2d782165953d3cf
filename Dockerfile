# llk23, dht and orwl, their licences, and nothing else:
#
#   docker build --build-arg VERSION="$(git describe --tags --always --dirty)" -t orwl .
#   docker run --rm orwl /llk23 -iters 20
#
# The programs show VERSION: there is no .git here to ask. The files of deploy/ name the command and
# the user.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -X github.com/orwl/go-orwl/internal/command.built=$VERSION" -o /out/ ./apps/llk23 ./apps/dht ./cmd/orwl
RUN cp LICENSE /out/ && deploy/licences >/out/LICENSES

FROM scratch
COPY --from=build /out/ /
USER 65532:65532
EXPOSE 7717 6379 9464
CMD ["/orwl", "help"]
