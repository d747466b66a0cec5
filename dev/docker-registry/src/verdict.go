// Prints the verdict of Podman's and Skopeo's own library on an image: "accepted", or "rejected" and why.
// As Skopeo does, it checks the manifest for this platform. Tests compare with it.
package main

import (
	"context"
	"fmt"
	"os"

	"go.podman.io/image/v5/docker"
	"go.podman.io/image/v5/image"
	"go.podman.io/image/v5/manifest"
	"go.podman.io/image/v5/signature"
	"go.podman.io/image/v5/types"
)

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: verdict POLICY REGISTRIES.D IMAGE"))
	}
	policy, err := signature.NewPolicyFromFile(os.Args[1])
	fail(err)
	policyContext, err := signature.NewPolicyContext(policy)
	fail(err)
	reference, err := docker.ParseReference("//" + os.Args[3])
	fail(err)
	system := &types.SystemContext{
		RegistriesDirPath:           os.Args[2],
		DockerInsecureSkipTLSVerify: types.OptionalBoolTrue,
	}
	ctx := context.Background()
	source, err := reference.NewImageSource(ctx, system)
	fail(err)
	unparsed := image.UnparsedInstance(source, nil)
	bytes, mediaType, err := unparsed.Manifest(ctx)
	fail(err)
	if manifest.MIMETypeIsMultiImage(mediaType) {
		list, err := manifest.ListFromBlob(bytes, mediaType)
		fail(err)
		chosen, err := list.ChooseInstance(system)
		fail(err)
		unparsed = image.UnparsedInstance(source, &chosen)
	}
	if allowed, err := policyContext.IsRunningImageAllowed(ctx, unparsed); !allowed {
		fmt.Println("rejected", err)
		return
	}
	fmt.Println("accepted")
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
