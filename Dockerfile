# llk23, dht and orwl, and nothing else:
#
#   docker build -t orwl .
#   docker run --rm orwl /llk23 -iters 20
#
# The files of deploy/ name the command and the user.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /out/ ./apps/llk23 ./apps/dht ./cmd/orwl

FROM scratch
COPY --from=build /out/ /
USER 65532:65532
EXPOSE 7717 6379 9464
CMD ["/orwl", "help"]
