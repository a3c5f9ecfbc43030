#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_program.sh <ferry> <version>: what the verbs say of nets and files that do not go together.
set -eu
ferry=$1 version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
has() { # has <text> <where it must be>
  case $2 in *"$1"*) ;; *) echo "no \"$1\" in: $2" >&2 && exit 1 ;; esac
}
net() { # net <name of the layer with weights>
  cat <<END
layer { name: "in" type: "Input" top: "x" top: "label" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer { name: "$1" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
layer { name: "accuracy" type: "Accuracy" bottom: "y" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss" }
END
}
has "ferry $version" "$("$ferry" --version)"
net ip >net.prototxt
net other >other.prototxt
echo 'net: "net.prototxt" base_lr: 0 lr_policy: "fixed" max_iter: 1 snapshot_prefix: "s" display: 1' >solver.prototxt

FERRY_DEVICE=none "$ferry" train --solver solver.prototxt --device sim 2>/dev/null # needs no other
rm s_iter_1.*
has SoftmaxWithLoss "$("$ferry" time --model net.prototxt --iterations 1)"
cat >indices.prototxt <<'END'
layer { name: "in" type: "Input" top: "i" input_param { shape { dim: 4 } } }
layer { name: "embed" type: "Embed" bottom: "i" top: "e" embed_param { num_output: 2 input_dim: 5 } }
END
has Embed "$("$ferry" time --model indices.prototxt --phase TEST --level -10 --iterations 1)"
cat >shared.prototxt <<'END'
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" }
        inner_product_param { num_output: 3 bias_term: false } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" }
        inner_product_param { num_output: 3 bias_term: false } }
layer { name: "flat" type: "Flatten" bottom: "b" top: "flat" }
END
has " 9 parameters" "$("$ferry" info --model shared.prototxt)"
{
  echo 'layer { name: "in" type: "Input" top: "x0" input_param { shape { dim: 250 dim: 1 } } }'
  for i in 1 2 3 4 5; do
    echo "layer { name: 'l$i' type: 'InnerProduct' bottom: 'x$((i - 1))' top: 'x$i' inner_product_param { num_output: 1000 } }"
  done
} >deep.prototxt
# Five tops of 1 MB, of which two are alive at a time; the last one keeps its own.
has "5.0 MB of activations, 3.0 MB with share_activations" "$("$ferry" info --model deep.prototxt)"
has "MB of activations;" "$("$ferry" info --model net.prototxt --phase TRAIN | tail -n 1);" # whose loss needs them all
# The data of x, a and b, which flat shares, and w: 4 times 12 * 3 + 9.
has " 180" "$("$ferry" time --model shared.prototxt --phase TEST --iterations 1 | grep '^all')"
has " 360" "$("$ferry" time --model shared.prototxt --iterations 1 | grep '^all')" # and their gradients
cat >filter.prototxt <<'END'
layer { name: "in" type: "Input" top: "x" top: "i" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer { name: "on_device" type: "Power" bottom: "i" top: "selector" }
layer { name: "filter" type: "Filter" bottom: "x" bottom: "selector" top: "y" }
END
moved() { "$ferry" time --model filter.prototxt --phase TEST --iterations 3 --device "$1" | awk '{ print $1, $5 ";" }'; }
has "on_device 0;" "$(moved sim)"
has "filter 80;" "$(moved sim)" # four floats down, twice four items' numbers up
has "filter 0;" "$(moved host)"

# Four images of 2 x 2, of which a batch has two: eight floats and two labels.
printf '\0\0\010\003\0\0\0\004\0\0\0\002\0\0\0\0020123456789abcdef' >images
printf '\0\0\010\001\0\0\0\004\0\001\0\001' >labels
if "$ferry" convert images labels digits >/dev/null 2>&1; then # this build has LMDB
  cat >digits.prototxt <<'END'
layer { name: "digits" type: "Data" top: "x" top: "label" data_param { source: "digits" batch_size: 2 backend: LMDB } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" top: "loss" }
END
  for iterations in 1 2 7; do
    said=$("$ferry" time --model digits.prototxt --iterations $iterations --device sim | awk '{ print $1, $5 ";" }')
    has "digits 40;" "$said"
    has "ip 0;" "$said"
    [ -n "${moves-}" ] || moves=$said
    [ "$said" = "$moves" ]
  done
fi

# What ends a conversion leaves nothing of it: two million images, of which the first are being written.
printf '\0\0\010\003\0\040\0\0\0\0\0\001\0\0\0\001' >many_images
printf '\0\0\010\001\0\040\0\0' >many_labels
for file in many_images many_labels; do head -c 2097152 /dev/zero >>$file; done
if [ -d digits ]; then
  "$ferry" convert many_images many_labels many 2>/dev/null &
  until ls -d many.unfinished-* >/dev/null 2>&1; do kill -0 $!; sleep 0.01; done
  kill $!
  status=0
  wait $! 2>/dev/null || status=$?
  [ $status = 143 ]
  case $(ls) in *unfinished*) echo "a part of a database is left" >&2 && exit 1 ;; esac
  [ ! -e many ]
fi

"$ferry" train --solver solver.prototxt --csv loss.csv 2>/dev/null
[ "$(wc -l <loss.csv)" = 2 ]
sed 's/max_iter: 1/max_iter: 3/' solver.prototxt >three_steps.prototxt
"$ferry" train --solver three_steps.prototxt --csv loss.csv --plot loss.svg 2>train.log
[ "$(grep -c '^iteration [12] of 3, loss 0\.693.*, rate 0, [0-9]* images/s, 0:00:0[0-9] left$' train.log)" = 2 ]
[ "$(head -n 1 loss.csv)" = iteration,loss,rate,seconds ]
[ "$(grep -c '^[012],0\.693147,0,[0-9.e-]*$' loss.csv)" = 3 ]
has '<polyline' "$(cat loss.svg)"
has '>0.693147</text>' "$(cat loss.svg)"
# A run that goes on keeps the losses from before its snapshot, and none that come again.
echo '7,0.5,0,1e3' >>loss.csv
cp loss.csv before
sed 's/max_iter: 1/max_iter: 5/' solver.prototxt >five_steps.prototxt
"$ferry" train --solver five_steps.prototxt --snapshot s_iter_3.solverstate --csv loss.csv --plot loss.svg 2>/dev/null
[ "$(head -n 4 loss.csv)" = "$(head -n 4 before)" ]
[ "$(tail -n 2 loss.csv | cut -d, -f1 | tr '\n' ' ')" = "3 4 " ]
[ "$(wc -l <loss.csv)" = 6 ]
[ "$(tail -n +2 loss.csv | cut -d, -f4 | sort -g | tr '\n' ' ')" = "$(tail -n +2 loss.csv | cut -d, -f4 | tr '\n' ' ')" ]
[ "$(grep -o 'points="[^"]*"' loss.svg | tr ' ' '\n' | grep -c ,)" = 5 ]
# A loss that stays, and is so large that 1 more is the same.
cat >large.prototxt <<'END'
layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 1 } data_filler { value: 1e20 } } }
layer { name: "r" type: "Reduction" bottom: "d" top: "r" loss_weight: 1 }
END
sed 's/"net/"large/' three_steps.prototxt >large_solver.prototxt
"$ferry" train --solver large_solver.prototxt --plot large.svg 2>/dev/null
has 'points="70,350 ' "$(cat large.svg)"
case $(cat large.svg) in *nan* | *inf*) echo "not a number in large.svg" >&2 && exit 1 ;; esac
said=$("$ferry" test --model other.prototxt --weights s_iter_1.caffemodel --iterations 1 2>&1)
has "Ignoring source layer ip" "$said"
has "The source has no layer 'other'" "$said"

net ip | sed 's/num_output: 2/num_output: 3/' >three.prototxt
refused() { # refused <text> <arguments...>
  text=$1 && shift
  status=0
  said=$("$ferry" "$@" 2>&1) || status=$?
  if [ $status != 1 ]; then echo "exit status $status, not 1: $*" >&2 && exit 1; fi
  has "$text" "$said"
}
cp loss.csv before
sed 's/base_lr: 0/base_lr: nan/' five_steps.prototxt >refused.prototxt
refused "base_lr nan" train --solver refused.prototxt --snapshot s_iter_1.solverstate --csv loss.csv
cmp loss.csv before
go_on="train --solver five_steps.prototxt --snapshot s_iter_1.solverstate --csv table"
for bad in 4,1,0,1 7,1,0,-1 7,0x1,0,1 7,1,0,nan 7,1,0 '7,1,0,1 ' ' 7,1,0,1' 99999999999,1,0,1 0,1,0,1; do
  { cat before && echo "$bad"; } >table
  # shellcheck disable=SC2086 # one word an argument
  refused "table is no table of losses" $go_on
done
{ cat before && printf 7,1,0,1; } >table
# shellcheck disable=SC2086
refused "table is no table of losses" $go_on
: >table
# shellcheck disable=SC2086
"$ferry" $go_on 2>/dev/null
[ "$(wc -l <table)" = 5 ]
# shellcheck disable=SC2086
has iteration,loss "$("$ferry" ${go_on% table} /dev/stdout 2>/dev/null | cat)"
sed 's/display: 1/display: 2/' five_steps.prototxt >by_two.prototxt
cp before table
"$ferry" train --solver by_two.prototxt --snapshot s_iter_1.solverstate --csv table 2>/dev/null
[ "$(tail -n +2 table | cut -d, -f1 | tr '\n' ' ')" = "0 2 4 " ]
cp net.prototxt no_table
refused "no_table is no table of losses" train --solver five_steps.prototxt --snapshot s_iter_1.solverstate --csv no_table
cmp net.prototxt no_table
"$ferry" train --solver solver.prototxt --csv no_table 2>/dev/null
[ "$(wc -l <no_table)" = 2 ]
refused "s_iter_1.caffemodel: " info --model three.prototxt --weights s_iter_1.caffemodel
refused "0 or more" time --model net.prototxt --gpu -1
sed 's/bottom: "x"/bottom: "nobody"/' net.prototxt >unfed.prototxt
sed 's/net.prototxt/unfed.prototxt/' solver.prototxt >unfed_solver.prototxt
refused "unfed.prototxt: Unknown bottom blob 'nobody'" time --model unfed.prototxt
refused "unfed.prototxt: Unknown bottom blob 'nobody'" train --solver unfed_solver.prototxt
echo 'test_net: "unfed.prototxt" test_iter: 1 test_interval: 1' | cat solver.prototxt - >unfed_test.prototxt
refused "unfed.prototxt: Unknown bottom blob 'nobody'" train --solver unfed_test.prototxt
refused --model info --device host
for many in all 0,1; do refused "'$many'; it is the number of one GPU" time --model net.prototxt -gpu $many; done
refused "'trian' is unknown here; \`ferry --help\`" trian --solver solver.prototxt
refused "'--sover' is unknown here; \`ferry train --help\`" train --sover solver.prototxt
refused "--solver is required" train
refused "no file is named" train --solver solver.prototxt --snapshot ""
refused "solver.prototxt is what it reads" train --solver solver.prototxt --csv solver.prototxt
refused "net.prototxt is what it reads" train --solver solver.prototxt --plot ./net.prototxt
mkdir store
ln -s store/losses to_losses
cp net.prototxt test.prototxt
for file in mean list part.h5 images infogain old; do echo keep >$file; done
mkdir database
echo keep >database/data.mdb
echo part.h5 >list
cat >sources.prototxt <<'END'
layer { name: "d" type: "Data" top: "d" data_param { source: "database" } transform_param { mean_file: "mean" } }
layer { name: "h" type: "HDF5Data" top: "h" hdf5_data_param { source: "list" } }
layer { name: "i" type: "ImageData" top: "i" top: "l" image_data_param { source: "images" } }
layer { name: "g" type: "InfogainLoss" bottom: "i" bottom: "l" infogain_loss_param { source: "infogain" } }
END
echo 'layers { type: IMAGE_DATA image_data_param { source: "old" mean_file: "mean" } }' >old_sources.prototxt
cat >inputs.prototxt <<'END'
train_net: "sources.prototxt" test_net: "old_sources.prototxt" test_net: "test.prototxt" test_iter: 1 test_iter: 1
test_interval: 1 weights: "s_iter_1.caffemodel, ./other.prototxt" display: 1 max_iter: 1 base_lr: 0 lr_policy: "fixed"
END
ln -s part.h5 linked
ln list hard
for output in csv plot; do
  for file in sources.prototxt old_sources.prototxt test.prototxt s_iter_1.caffemodel other.prototxt mean list hard \
    part.h5 linked images infogain old database/data.mdb; do
    cp $file before
    refused "$file is what it reads" train --solver inputs.prototxt --$output $file
    cmp before $file
  done
done
cp s_iter_1.caffemodel before
refused "s_iter_1.caffemodel is what it reads" train --solver solver.prototxt --snapshot s_iter_1.solverstate \
  --csv ./s_iter_1.caffemodel
cmp before s_iter_1.caffemodel
sed 's/"s"/"hdf5" snapshot_format: HDF5/' solver.prototxt >hdf5_solver.prototxt
if "$ferry" train --solver hdf5_solver.prototxt 2>/dev/null; then # this build has HDF5
  refused "hdf5_iter_1.caffemodel.h5 is what it reads" train --solver hdf5_solver.prototxt \
    --snapshot hdf5_iter_1.solverstate.h5 --plot hdf5_iter_1.caffemodel.h5
fi
for file in ./s_iter_1.caffemodel s_iter_7.solverstate s_iter_1.caffemodel.h5; do
  refused "$file is where a snapshot goes" train --solver solver.prototxt --csv $file
done
cmp before s_iter_1.caffemodel
refused "are one file" train --solver solver.prototxt --csv new --plot ./new
refused "are one file" train --solver solver.prototxt --csv store/losses --plot to_losses
if [ -e new ] || [ -e store/losses ]; then echo "a run that was refused left a file" >&2 && exit 1; fi
"$ferry" train --solver solver.prototxt --csv to_losses 2>/dev/null
[ -L to_losses ]
[ "$(wc -l <store/losses)" = 2 ]
has iteration,loss "$("$ferry" train --solver solver.prototxt --csv /dev/stdout 2>/dev/null)"
for input in weights snapshot; do
  refused "other.prototxt is what it reads" train --solver solver.prototxt --$input other.prototxt --csv other.prototxt
done
if [ -e /dev/full ]; then
  status=0
  "$ferry" info --model net.prototxt >/dev/full 2>said || status=$?
  [ $status = 1 ]
  has "what it prints cannot be written" "$(cat said)"
fi
status=0
said=$( (ulimit -f 0 && exec "$ferry" train --solver solver.prototxt) 2>&1) || status=$?
[ $status = 1 ]
has "File too large" "$said"
sed 's/display: 1//' solver.prototxt >silent.prototxt
for losses in csv plot; do
  refused "silent.prototxt displays no iteration" train --solver silent.prototxt --$losses losses
done
refused "no.hdf5, an HDF5 file: say one" convert images labels no.hdf5 --backend leveldb
refused "no.h5, an HDF5 file: say one" convert images labels no.h5 --backend leveldb
has "=TEST" "$("$ferry" test --help)"
echo 'net: "net.prototxt" solver_type: SGD' >old.prototxt
has "has the form of today" "$("$ferry" upgrade --solver old.prototxt new.prototxt)"
[ "$(tr -d '\n' <new.prototxt)" = 'net: "net.prototxt"type: "SGD"' ]
cat >v0.prototxt <<'END'
input: "x" input_dim: 1 input_dim: 1 input_dim: 1 input_dim: 1
layers { layer { name: "r" type: "relu" num_output: 3 } bottom: "x" top: "y" }
END
cp v0.prototxt before
ln -s v0.prototxt to_v0.prototxt
for same in v0.prototxt ./v0.prototxt to_v0.prototxt; do
  refused "$same is not written: it is the source" upgrade v0.prototxt $same
  cmp before v0.prototxt
done
refused "v2.prototxt was written without the parts of v0.prototxt" upgrade v0.prototxt v2.prototxt
has '"ReLU"' "$(cat v2.prototxt)"
printf kept >there.h5
refused "there.h5 is there already" convert images labels there.h5
[ "$(cat there.h5)" = kept ]

rm -f s_iter_1.* loss.csv
refused "--gpu 0: " train --solver solver.prototxt --csv loss.csv --gpu 0
if [ -e loss.csv ]; then echo "a run that was refused left a file" >&2 && exit 1; fi

# A disk that is full at the snapshot: the losses until then are kept.
net ip | sed 's/num_output: 2/num_output: 400/' >wide.prototxt
echo 'net: "wide.prototxt" base_lr: 0 lr_policy: "fixed" max_iter: 2 snapshot_prefix: "s" display: 1' >wide_solver.prototxt
if said=$(trap '' XFSZ && ulimit -f 1 && "$ferry" train --solver wide_solver.prototxt --csv loss.csv 2>&1); then exit 1; fi
has "s_iter_2.caffemodel: cannot write" "$said"
[ "$(wc -l <loss.csv)" = 3 ]
if said=$("$ferry" train --solver solver.prototxt --plot nowhere/loss.svg 2>&1); then exit 1; fi
has "nowhere/loss.svg: cannot create: No such file or directory" "$said"
if [ -e s_iter_1.caffemodel ]; then echo "trained before it looked at the plot" >&2 && exit 1; fi

# A disk that is full at the losses: the old ones are kept.
echo old >loss.svg
if said=$(trap '' XFSZ && ulimit -f 1 && "$ferry" train --solver solver.prototxt --plot loss.svg 2>&1); then exit 1; fi
has "loss.svg: cannot write" "$said"
[ "$(cat loss.svg)" = old ]
case $(ls -A) in *.ferry-*) echo "a part of a plot is left" >&2 && exit 1 ;; esac
